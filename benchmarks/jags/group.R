# Sample benchmarks/jags/group.jags from a table of trials (needs jags and the R package rjags).
#
#   Rscript benchmarks/jags/group.R trials.csv draws.csv CHAINS ADAPT BURN_IN DRAWS SEED
#
# Writes the draws (chain, draw, one column a quantity) and, beside them, draws.csv.seconds with the
# seconds of compiling and adapting, of burning in, and of sampling.

suppressPackageStartupMessages(library(rjags))

words <- commandArgs(trailingOnly = TRUE)
numbers <- as.integer(words[3:7])
n_chains <- numbers[1]; n_adapt <- numbers[2]; n_burn <- numbers[3]; n_draws <- numbers[4]; seed <- numbers[5]

trials <- read.csv(words[1])
people <- sort(unique(trials$participant))
P <- length(people)
K <- max(trials$confidence)
place <- ifelse(trials$response == 0, K + 1 - trials$confidence, K + trials$confidence)
counts <- table(factor(trials$participant, people), factor(trials$stimulus, 0:1), factor(place, 1:(2 * K)))
counts <- array(as.integer(counts), dim(counts))
data <- list(counts = counts, total = apply(counts, c(1, 2), sum), P = P, K = K, sign = c(-1, 1))

start <- function(chain) {
  set.seed(seed + 1000 * chain)
  list(
    d = rnorm(P, 1.5, 0.2), c = rnorm(P, 0, 0.1), log_m = rnorm(P, 0, 0.1),
    log_gap = array(rnorm(P * 2 * (K - 1), log(2.5 / K), 0.1), c(P, 2, K - 1)),
    mean_d = 1.5, mean_c = 0, mean_log_m = 0, sd_d = 0.5, sd_c = 0.3, sd_log_m = 0.3,
    .RNG.name = "base::Mersenne-Twister", .RNG.seed = seed + 1000 * chain
  )
}

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
seconds <- function(expression) as.numeric(system.time(expression)["elapsed"])

compiling <- seconds(model <- jags.model(
  file.path(folder, "group.jags"), data, lapply(seq_len(n_chains), start), n_chains, n_adapt, quiet = TRUE
))
burning <- seconds(update(model, n_burn, progress.bar = "none"))
names <- c("mean_log_m", "sample_mean_log_m", "sd_log_m", "mean_d", "mean_c", "sd_d", "sd_c")
sampling <- seconds(draws <- coda.samples(model, names, n_draws, progress.bar = "none"))

table <- do.call(rbind, lapply(seq_len(n_chains), function(chain) {
  data.frame(chain = chain - 1, draw = seq_len(n_draws) - 1, as.matrix(draws[[chain]])[, names])
}))
write.csv(table, words[2], row.names = FALSE)
writeLines(sprintf('{"compile_s": %.3f, "burn_in_s": %.3f, "sampling_s": %.3f}', compiling, burning, sampling), paste0(words[2], ".seconds"))
