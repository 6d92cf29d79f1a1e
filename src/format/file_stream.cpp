#include "format/file_stream.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "base/bytes.h"
#include "base/without_throwing.h"
#include "cipher/chunk_span.h"

namespace stockade::format {
namespace {

// What pull() fetches at a time: enough for several workers.
constexpr uint64_t fetch_bytes = uint64_t{1} << 20;
// Of the input, while its header is not complete.
constexpr uint64_t beginning_piece = 4096;

}  // namespace

bool looks_sealed(Bytes bytes) {
  constexpr std::string_view any_version = "stockade/v";
  if (bytes.size() > any_version.size() && std::memcmp(bytes.data(), any_version.data(), any_version.size()) == 0) {
    return bytes[any_version.size()] >= '0' && bytes[any_version.size()] <= '9';
  }
  return looks_armored(bytes);
}

Status FileStream::start(RandomSource& random) {
  if (!making()) {
    if (format_.keyring == nullptr) phase_ = Phase::beginning;
    return check_format(format_, direction_);
  }
  phase_ = Phase::payload;
  return make_beginning(format_, random, beginning_, beginning_bytes_);
}

Status FileStream::check_state(bool ended_is_fine) {
  if (process_ != process_number()) {
    fault_ = make_fault(STOCKADE_ERROR_FORKED);
    return STOCKADE_ERROR_FORKED;
  }
  const bool over = state_ == State::failed || (state_ == State::ended && !ended_is_fine);
  return over ? STOCKADE_ERROR_STATE : STOCKADE_OK;
}

Status FileStream::fail(const stockade_fault& fault) {
  fault_ = fault;
  state_ = State::failed;
  return fault.status;
}

void FileStream::abandon(Status status) { fail(make_fault(status)); }

// Bytes of the file, before armor, that `length` more bytes of plaintext make.
uint64_t FileStream::sealed_bound(uint64_t length) const {
  const uint64_t beginning = state_ == State::fresh ? beginning_bytes_.size() : 0;
  return beginning + chunked::sealed_length(held_length_ + length, length == 0);
}

uint64_t FileStream::bound(uint64_t length) const {
  if (length > UINT64_MAX / 4) return UINT64_MAX;
  if (making()) {
    const uint64_t sealed = sealed_bound(length);
    return armoring() ? ArmorEncoder::bound(sealed) + (length == 0 ? ArmorEncoder::bound(0) : 0) : sealed;
  }
  // Everything that was held back may come out: of a chunk, of the beginning, and of a line of armor.
  constexpr uint64_t line_bytes = 64;
  return length + (phase_ == Phase::payload ? held_length_ : beginning_bytes_.size()) + line_bytes;
}

Status FileStream::update(Bytes in, std::span<uint8_t> out, uint64_t* written) {
  *written = 0;
  if (const Status status = check_state(false); status != STOCKADE_OK) return status;
  if (in.empty()) return STOCKADE_OK;
  if (out.size() < bound(in.size())) return STOCKADE_ERROR_OUTPUT_SIZE;
  if (ranges_overlap(in.data(), in.size(), out.data(), out.size())) return STOCKADE_ERROR_OVERLAP;
  Output output{out};
  const Status status = without_throwing([&] { return making() ? give(in, false, output) : take(in, output); });
  if (status == STOCKADE_OK) {
    state_ = State::running;
    *written = output.used;
  } else {
    wipe(out.data(), output.used);
  }
  return status;
}

Status FileStream::finish(std::span<uint8_t> out, uint64_t* written) {
  *written = 0;
  if (const Status status = check_state(false); status != STOCKADE_OK) return status;
  if (out.size() < bound(0)) return STOCKADE_ERROR_OUTPUT_SIZE;
  Output output{out};
  const Status status = without_throwing([&] { return making() ? give({}, true, output) : open_last(output); });
  if (status != STOCKADE_OK) {
    wipe(out.data(), output.used);
    return status;
  }
  state_ = State::ended;
  *written = output.used;
  return STOCKADE_OK;
}

// ---- making a file

Status FileStream::give(Bytes in, bool last, Output& out) {
  if (armoring()) return give_armored(in, last, out);
  if (state_ == State::fresh) {
    std::memcpy(out.room.data(), beginning_bytes_.data(), beginning_bytes_.size());
    out.used = beginning_bytes_.size();
  }
  const Status status = take_payload(in, out);
  if (status != STOCKADE_OK || !last) return status;
  return seal_last(out.room.data() + out.used, &out.used);
}

Status FileStream::give_armored(Bytes in, bool last, Output& out) {
  std::vector<uint8_t> sealed, text;
  if (state_ == State::fresh) encoder_.update(beginning_bytes_, text);
  sealed.resize(chunked::sealed_length(held_length_ + in.size(), last));
  Output raw{sealed};
  Status status = take_payload(in, raw);
  if (status == STOCKADE_OK && last) status = seal_last(sealed.data() + raw.used, &raw.used);
  if (status != STOCKADE_OK) return status;
  encoder_.update({sealed.data(), raw.used}, text);
  if (last) encoder_.finish(text);
  if (!text.empty()) std::memcpy(out.room.data(), text.data(), text.size());
  out.used = text.size();
  return STOCKADE_OK;
}

// ---- opening one

Status FileStream::take(Bytes in, Output& out) {
  if (phase_ == Phase::armor) {
    // Decided once there are enough bytes to tell.
    const uint64_t taken = std::min<uint64_t>(in.size(), armor_begin.size() - beginning_bytes_.size());
    beginning_bytes_.insert(beginning_bytes_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(taken));
    if (may_be_armored(beginning_bytes_) && !looks_armored(beginning_bytes_)) return STOCKADE_OK;
    armored_ = looks_armored(beginning_bytes_);
    phase_ = Phase::beginning;
    std::vector<uint8_t> first;
    first.swap(beginning_bytes_);
    const Status status = take(first, out);
    if (status != STOCKADE_OK) return status;
    in = in.subspan(taken);
  }
  if (!armored_) return take_sealed(in, out);
  std::vector<uint8_t> decoded;
  stockade_fault fault;
  const Status armor = decoder_.update(in, decoded, fault);
  const Status status = take_sealed(decoded, out);
  return status != STOCKADE_OK || armor == STOCKADE_OK ? status : fail_in_armor(fault, out);
}

// What stands before the place where the armor goes wrong comes first, however the input was cut into pieces: a header that
// is wrong, but has not been looked at yet.
Status FileStream::fail_in_armor(const stockade_fault& fault, Output& out) {
  if (phase_ == Phase::beginning) {
    const Status status = try_beginning(out);
    if (status != STOCKADE_OK) return status;
  }
  return fail(fault);
}

Status FileStream::take_sealed(Bytes in, Output& out) {
  while (phase_ == Phase::beginning && !in.empty()) {
    const uint64_t taken = std::min<uint64_t>(in.size(), beginning_piece);
    beginning_bytes_.insert(beginning_bytes_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(taken));
    in = in.subspan(taken);
    const Status status = try_beginning(out);
    if (status != STOCKADE_OK) return status;
  }
  return in.empty() ? STOCKADE_OK : take_payload(in, out);
}

Status FileStream::try_beginning(Output& out) {
  stockade_fault fault;
  const Status status = opener_.open(format_, beginning_bytes_, beginning_, fault);
  if (status == STOCKADE_ERROR_TRUNCATED) return STOCKADE_OK;
  if (status != STOCKADE_OK) return fail(fault);
  return leave_beginning(out);
}

Status FileStream::leave_beginning(Output& out) {
  phase_ = Phase::payload;
  std::vector<uint8_t> all;
  all.swap(beginning_bytes_);
  return take_payload(Bytes(all).subspan(beginning_.length()), out);
}

// Why chunk `index` does not open; `rest` is what there is of the payload from it on, all of it if `last`.
stockade_fault FileStream::chunk_fault(uint64_t index, Bytes rest, bool last) const {
  const uint64_t offset = beginning_.header_length + chunked::chunk_offset(index);
  if (const uint64_t end = chunked::find_end(*beginning_.key, index, rest.data(), rest.size())) {
    return fault_at(STOCKADE_ERROR_TRAILING_DATA, offset + end);
  }
  stockade_fault fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, index, offset);
  fault.value = last ? 1 : 0;
  return fault;
}

Status FileStream::open_last(Output& out) {
  if (armored_) {
    stockade_fault fault;
    if (decoder_.finish(fault) != STOCKADE_OK) return fail_in_armor(fault, out);
  }
  if (phase_ != Phase::payload) {
    stockade_fault fault;
    if (opener_.open(format_, beginning_bytes_, beginning_, fault) != STOCKADE_OK) return fail(fault);
    const Status status = leave_beginning(out);
    if (status != STOCKADE_OK) return status;
  }
  const uint64_t offset = beginning_.header_length + chunked::chunk_offset(next_chunk_);
  if (held_length_ < chunked::tag_bytes) return fail(fault_at(STOCKADE_ERROR_TRUNCATED, offset + held_length_));
  const cipher::ChunkSpan span{next_chunk_, *held_, held_length_, true, out.room.data() + out.used};
  uint64_t damaged = UINT64_MAX;
  const Status status = cipher::open_span(engine_, *beginning_.key, span, &damaged);
  if (status != STOCKADE_OK) return fail(make_fault(status));
  if (damaged != UINT64_MAX) return fail(chunk_fault(next_chunk_, {*held_, held_length_}, true));
  out.used += held_length_ - chunked::tag_bytes;
  return STOCKADE_OK;
}

// ---- both

// Completes the chunk that is held, runs whole chunks, holds the rest. A whole chunk is never the last one.
Status FileStream::take_payload(Bytes in, Output& out) {
  const uint64_t piece = piece_bytes();
  const uint64_t out_piece = making() ? chunked::sealed_chunk_bytes : chunked::chunk_bytes;
  if (next_chunk_ + (held_length_ + in.size()) / piece >= chunked::max_chunks) {
    return fail(make_fault(STOCKADE_ERROR_TOO_MANY_CHUNKS));
  }
  if (held_length_ != 0) {
    const uint64_t taken = std::min<uint64_t>(piece - held_length_, in.size());
    if (taken != 0) std::memcpy(*held_ + held_length_, in.data(), taken);
    held_length_ += taken;
    in = in.subspan(taken);
    if (held_length_ < piece) return STOCKADE_OK;
    const Status status = run_chunks(*held_, 1, out.room.data() + out.used);
    if (status != STOCKADE_OK) return status;
    out.used += out_piece;
  }
  const uint64_t count = in.size() / piece;
  const Status status = run_chunks(in.data(), count, out.room.data() + out.used);
  if (status != STOCKADE_OK) return status;
  out.used += count * out_piece;
  in = in.subspan(count * piece);
  held_length_ = in.size();
  if (!in.empty()) std::memcpy(*held_, in.data(), in.size());
  return STOCKADE_OK;
}

// On an error all of the output is wiped.
Status FileStream::run_chunks(const uint8_t* in, uint64_t count, uint8_t* out) {
  if (count == 0) return STOCKADE_OK;
  const chunked::PayloadKey& key = *beginning_.key;
  const cipher::ChunkSpan span{next_chunk_, in, count * piece_bytes(), false, out};
  uint64_t damaged = UINT64_MAX;
  const Status status =
      making() ? cipher::seal_span(engine_, key, span) : cipher::open_span(engine_, key, span, &damaged);
  if (status != STOCKADE_OK || damaged != UINT64_MAX) {
    wipe(out, count * (making() ? chunked::sealed_chunk_bytes : chunked::chunk_bytes));
    if (status != STOCKADE_OK) return fail(make_fault(status));
    return fail(chunk_fault(next_chunk_ + damaged,
                            {in + damaged * chunked::sealed_chunk_bytes, chunked::sealed_chunk_bytes}, false));
  }
  next_chunk_ += count;
  return STOCKADE_OK;
}

// The last chunk, of what is held; `out` has room for it.
Status FileStream::seal_last(uint8_t* out, uint64_t* written) {
  const Status status = cipher::seal_span(engine_, *beginning_.key, {next_chunk_, *held_, held_length_, true, out});
  if (status != STOCKADE_OK) return fail(make_fault(status));
  *written += chunked::sealed_length(held_length_, true);
  return STOCKADE_OK;
}

Status FileStream::pull(stockade_read read, void* context, std::span<uint8_t> out, uint64_t* written) {
  *written = 0;
  if (const Status status = check_state(true); status != STOCKADE_OK) return status;
  uint64_t done = 0;
  while (done < out.size()) {
    if (ready_begin_ == ready_end_) {
      if (state_ == State::ended) break;
      const Status status = fetch(read, context);
      if (status != STOCKADE_OK) {
        wipe(out.data(), done);
        return status;
      }
    }
    const uint64_t count = std::min<uint64_t>(out.size() - done, ready_end_ - ready_begin_);
    if (count != 0) std::memcpy(out.data() + done, ready_.data() + ready_begin_, count);
    ready_begin_ += count;
    done += count;
  }
  *written = done;
  return STOCKADE_OK;
}

// One piece of the input through update(), or its end through finish().
Status FileStream::fetch(stockade_read read, void* context) {
  if (fetched_.data() == nullptr && !fetched_.allocate(fetch_bytes)) return fail(make_fault(STOCKADE_ERROR_MEMORY));
  int64_t got = 0;
  const Status called = without_throwing([&] {
    got = read(context, fetched_.data(), fetch_bytes);
    return STOCKADE_OK;
  });
  if (called != STOCKADE_OK) return fail(make_fault(STOCKADE_ERROR_CANCELLED));
  if (got < 0 || static_cast<uint64_t>(got) > fetch_bytes) return fail(make_fault(STOCKADE_ERROR_IO));
  const auto length = static_cast<uint64_t>(got);
  const uint64_t needed = bound(length);
  // A header that arrives in small pieces asks for a little more each time.
  if (ready_.size() < needed && !ready_.allocate(std::max(needed, 2 * ready_.size()))) {
    return fail(make_fault(STOCKADE_ERROR_MEMORY));
  }
  ready_begin_ = ready_end_ = 0;
  const std::span<uint8_t> room(ready_.data(), ready_.size());
  const Status status = length == 0 ? finish(room, &ready_end_) : update({fetched_.data(), length}, room, &ready_end_);
  return status == STOCKADE_ERROR_MEMORY ? fail(make_fault(status)) : status;
}

}  // namespace stockade::format
