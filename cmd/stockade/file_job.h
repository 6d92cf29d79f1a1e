// One Stockade file, or plain Cobblestone, made or opened by the library between two descriptors.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "file_failure.h"
#include "input_file.h"
#include "resume.h"
#include "stockade/stockade.h"
#include "ui.h"

namespace stockade::cmd {

struct FileJob {
  stockade_direction direction;
  const Input& input;
  int out_fd;
  const stockade_format& format;
  ui::Progress& progress;
  ResumableOutput* output = nullptr;  // with a journal
  const stockade_keyring* journal_keyring = nullptr;
  bool start_over = false;  // rather than refuse a journal that does not fit
  bool accept_changed_input = false;
};

// For whoever is interrupted in the middle of a job with a journal.
extern const char resume_hint[];

// INPUT_CHANGED of a job that goes on: the input is not the one that the job was begun with, or has other content.
// `since` is what it is compared with, such as "the interrupted run"; the hint says how to begin anew.
Failure changed_input_failure(const stockade_fault& fault, const std::string& input, std::string_view since,
                              std::string_view begin_anew);
// The journal is one of an earlier version, which went on with too little.
bool is_old_journal(const stockade_fault& fault);

// Throws Failure.
void run_file_job(const FileJob& job, const FileContext& context, const stockade_engine* engine);

// Of all files together; 0 where one of them has none.
uint64_t total_length(std::span<const std::string> paths);

// How a file of that length, or a long one where it is unknown (0), is run: in the library's words, with the reason after
// a colon.
std::string plan_text(stockade_direction direction, stockade_cipher cipher, uint64_t length,
                      const stockade_engine* engine);

// For the progress callback of any job; the context is a ui::Progress.
int on_progress(void* context, uint64_t done, uint64_t total);

}  // namespace stockade::cmd
