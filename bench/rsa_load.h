// Clients that ask for signatures, and how long they wait: for whoever can sign one request at a time from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "rsa_material.h"

namespace stockade::bench {

class Signer {
 public:
  virtual ~Signer() = default;
  // Returns with the signature. Whether it was made is seen by what it is.
  virtual void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) = 0;
  // The same without waiting: `request` and what it points to stay until `done` is called, by any thread, also where
  // no signature could be made.
  struct Request {
    std::span<const uint8_t> digest;
    std::span<uint8_t> signature;
    void (*done)(Request& request) = nullptr;
  };
  virtual void submit(Request& request) = 0;
  // Since it was made.
  struct Counts {
    uint64_t requests, batches;
  };
  virtual Counts counts() const = 0;
};

// Load begins, then after `warm` comes the time that counts, and then what is left is finished.
struct Turn {
  std::chrono::duration<double> warm, seconds;
};

struct LoadResult {
  std::vector<double> latencies;  // in seconds, of the requests that ended in the time that counts
  double per_second = 0;          // of these
  uint64_t wrong = 0;             // of all signatures, those that are not OpenSSL's
};

// Each client asks again as soon as it has its signature.
LoadResult closed_loop(Signer& signer, const RsaMaterial& material, uint32_t clients, const Turn& turn);

// Requests at random times, independent of each other, so many per second on average (a Poisson process; the same times
// for the same seed). A latency counts from when the request was due, so what delays the asking is part of it.
LoadResult open_loop(Signer& signer, const RsaMaterial& material, double arrivals_per_second, const Turn& turn,
                     uint64_t seed);

// The smallest value that at least `share` of them do not exceed; 0 of none.
double quantile(std::vector<double> values, double share);

}  // namespace stockade::bench
