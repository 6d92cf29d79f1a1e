// Experience data: what a reader takes and refuses, look-ups, which profile counts, and the fingerprint.
#include "tune/profile.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cpu/machine.h"
#include "tune/fingerprint.h"
#include "tune/profile_in_force.h"

namespace stockade::tune {
namespace {

constexpr const char* head =
    "stockade-profile 1\nmachine somewhere, 4 cores\nfingerprint 0123456789abcdef\ngpu A card\n";
constexpr const char* proof =
    " | 17.2 GB/s | engine=serial 9.1 GB/s | somewhere, 4 cores | 2026-11-22 | 8ab323e01234\n";

std::string row(const std::string& subject) { return subject + proof; }

std::string text_of(const std::vector<std::string>& subjects) {
  std::string text = head;
  for (const std::string& subject : subjects) text += row(subject);
  return text + "end " + std::to_string(subjects.size()) + "\n";
}

class Profiles : public testing::Test {
 protected:
  bool read(const std::string& text) { return read_profile(text, *profile_, fault_); }
  void expect_fault(const std::string& text, uint32_t line, const char* what) {
    EXPECT_FALSE(read(text)) << text;
    EXPECT_EQ(fault_.line, line) << text;
    EXPECT_STREQ(fault_.what, what) << text;
    EXPECT_EQ(profile_->entries, 0U);
    EXPECT_EQ(profile_->find(Operation::ctr, 128, 1 << 20), nullptr);
  }

  std::unique_ptr<Profile> profile_ = std::make_unique<Profile>();
  Fault fault_;
};

TEST_F(Profiles, have_what_their_lines_say) {
  ASSERT_TRUE(read(text_of(
      {"ctr 128 64 engine=serial", "ctr 128 65536 engine=threads workers=all share=4096 stores=streaming",
       "files 256 0 batch=4", "rsa-private 2048 8 row=ifma layers=halves workers=3",
       "gpu-ctr 128 0 threads=768 blocks=2 per_sm=1", "gpu-pinned 256 1048576 engine=hybrid lanes=4 run=8388608"})))
      << fault_.line << ": " << fault_.what;
  EXPECT_STREQ(profile_->machine, "somewhere, 4 cores");
  EXPECT_STREQ(profile_->fingerprint, "0123456789abcdef");
  EXPECT_STREQ(profile_->gpu, "A card");
  ASSERT_EQ(profile_->entries, 6U);
  ASSERT_EQ(profile_->groups, 5U);
  const Choice& streaming = profile_->entry[1].choice;
  EXPECT_EQ(streaming.runner, Runner::threads);
  EXPECT_EQ(streaming.workers, all_workers);
  EXPECT_EQ(streaming.share, 4096U);
  EXPECT_EQ(streaming.stores, Stores::streaming);
  EXPECT_EQ(profile_->entry[1].line, 6U);
  EXPECT_EQ(profile_->entry[1].score, 17.2);
  EXPECT_EQ(profile_->entry[2].choice.batch, 4U);
  EXPECT_STREQ(profile_->entry[3].choice.row, "ifma");
  EXPECT_EQ(profile_->entry[3].choice.layers, Layers::halves);
  EXPECT_EQ(profile_->entry[3].choice.workers, 3U);
  EXPECT_EQ(profile_->entry[4].choice.threads, 768U);
  EXPECT_EQ(profile_->entry[4].choice.blocks, 2U);
  EXPECT_EQ(profile_->entry[4].choice.per_multiprocessor, 1U);
  EXPECT_EQ(profile_->entry[5].choice.runner, Runner::hybrid);
  EXPECT_EQ(profile_->entry[5].choice.lanes, 4U);
  EXPECT_EQ(profile_->entry[5].choice.run_bytes, uint64_t{8} << 20);
}

TEST_F(Profiles, may_have_comments_and_carriage_returns_and_no_last_newline) {
  EXPECT_TRUE(read("# by hand\r\nstockade-profile 1\r\n\r\n  # nothing\r\nend 0"));
  EXPECT_EQ(profile_->entries, 0U);
}

TEST_F(Profiles, without_provenance_are_refused) {
  const auto with = [](const std::string& line) { return std::string(head) + line + "\nend 1\n"; };
  const std::string subject = "ctr 128 64 engine=serial";
  expect_fault(with(subject + " |"), 5, "the row has no score");
  expect_fault(with(subject + " | fast | - | m | 2026-11-22 | 0123456"), 5, "the row has no score");
  expect_fault(with(subject + " | 0 GB/s | - | m | 2026-11-22 | 0123456"), 5, "the row has no score");
  expect_fault(with(subject + " | 1 GB/s | | m | 2026-11-22 | 0123456"), 5, "the row has no runner-up");
  expect_fault(with(subject + " | 1 GB/s | - | | 2026-11-22 | 0123456"), 5,
               "the row does not say on which machine it was measured");
  for (const char* date : {"", "yesterday", "2026-13-22", "2026-11-32", "2026-1-2", "1999-01-01"}) {
    expect_fault(with(subject + " | 1 GB/s | - | m | " + date + " | 0123456"), 5,
                 "the row does not say when it was measured");
  }
  for (const char* commit : {"", "012345", "main", "0123456g", "v", "v1.x"}) {
    expect_fault(with(subject + " | 1 GB/s | - | m | 2026-11-22 | " + commit), 5,
                 "the row does not say of which commit it was measured");
  }
  for (const char* commit : {"0123456", "0123456789abcdef0123456789abcdef01234567", "0123456+", "v0.1.0"}) {
    EXPECT_TRUE(read(with(subject + " | 1 GB/s | - | m | 2026-11-22 | " + commit))) << commit;
  }
  expect_fault(with(subject + " | 1 GB/s | - | m | 2026-11-22 | 0123456 | more"), 5, "something stands behind the row");
  // A row without bars is no row at all.
  expect_fault(with(subject), 5, "this is neither a row nor anything else that a profile has");
}

TEST_F(Profiles, of_other_kinds_and_versions_are_refused) {
  expect_fault("", 0, "it is empty");
  expect_fault("# only this\n", 1, "it is empty");
  expect_fault("PNG\x1a\n", 1, "this is no profile of Stockade");
  expect_fault("stockade-profile\n", 1, "this is no profile of Stockade");
  expect_fault("stockade-profile 2\nend 0\n", 1, "it was written for another version of Stockade");
  expect_fault("stockade-profile 0\nend 0\n", 1, "it was written for another version of Stockade");
}

TEST_F(Profiles, that_are_damaged_are_refused) {
  expect_fault(std::string(head), 4, "its end is missing");
  expect_fault(std::string(head) + "end 1\n", 5, "the number of rows is not the one at its end");
  expect_fault(std::string(head) + "end\n", 5, "the number of rows is not the one at its end");
  expect_fault(text_of({"ctr 128 64 engine=serial"}) + "end 1\n", 7, "something stands behind the end");
  const auto refused = [this](const std::string& subject, const char* what) {
    expect_fault(text_of({subject}), 5, what);
  };
  refused("des 128 64 engine=serial", "the operation is unknown");
  refused("ctr many 64 engine=serial", "the size of the key is none");
  refused("ctr 64 64 engine=serial", "the size of the key is none");
  refused("ctr 128 -1 engine=serial", "the length is none");
  refused("ctr 128 99999999999999999999 engine=serial", "the length is none");
  refused("ctr 128 64", "there is no choice in the row");
  for (const char* part : {"engine=gpu",
                           "engine",
                           "workers=0",
                           "workers=4097",
                           "workers=two",
                           "share=0",
                           "stores=none",
                           "layers=all",
                           "batch=65",
                           "row=",
                           "row=averyverylongname",
                           "row=IFMA",
                           "row=if-ma",
                           "threads=33",
                           "threads=2048",
                           "threads=0",
                           "blocks=3",
                           "blocks=8",
                           "per_sm=33",
                           "lanes=0",
                           "lanes=65",
                           "run=65535",
                           "run=98304",
                           "run=33554432",
                           "colour=red"}) {
    refused(std::string("ctr 128 64 ") + part, "a part of the choice is unknown or out of range");
  }
  expect_fault(text_of({"ctr 128 64 engine=serial", "ctr 128 64 engine=serial"}), 6, "the rows are not in order");
  expect_fault(text_of({"ctr 256 64 engine=serial", "ctr 128 64 engine=serial"}), 6, "the rows are not in order");
  expect_fault(text_of({"gcm 128 64 engine=serial", "ctr 128 64 engine=serial"}), 6, "the rows are not in order");
  expect_fault("stockade-profile 1\n" + row("gpu-ctr 128 64 threads=64") + "end 1\n", 2,
               "a row about a GPU, and none was named");
  for (const char* line : {"fingerprint 0123", "fingerprint 0123456789ABCDEF"}) {
    expect_fault(std::string("stockade-profile 1\n") + line + "\nend 0\n", 2, "the fingerprint is none");
  }
  expect_fault("stockade-profile 1\nneeds mmx\nend 0\n", 2, "an instruction set is unknown");
  expect_fault("stockade-profile 1\ncores none\nend 0\n", 2, "the number of cores is none");
  expect_fault("stockade-profile 1\nmachine\nend 0\n", 2, "the machine has no name, or too long a one");
}

// They are shown to people, and a zero would end a name before its end.
TEST_F(Profiles, with_control_characters_are_refused) {
  for (const char character : {'\0', '\x01', '\x1b', '\r', '\x7f'}) {
    for (const char* line : {"rsa-private 2048 1 row=if?ma", "ctr 128 64 engine=serial ?"}) {
      std::string text = text_of({line});
      text[text.find('?')] = character;
      expect_fault(text, 5, "there is a control character in it");
    }
    std::string named = text_of({"ctr 128 64 engine=serial"});
    named[named.find("card") + 1] = character;
    expect_fault(named, 4, "there is a control character in it");
    expect_fault(std::string("stockade-profile 1\n# a") + character + "b\nend 0\n", 2,
                 "there is a control character in it");
  }
  EXPECT_TRUE(
      read("stockade-profile 1\nmachine Prozessor f\xc3\xbcr Gro\xc3\x9f"
           "es\tund Kleines\nend 0\n"))
      << fault_.what;
  for (const char* score : {"inf GB/s", "nan GB/s", "-1 /s"}) {
    expect_fault(std::string(head) + "ctr 128 64 engine=serial | " + score + " | - | m | 2026-11-22 | 0123456\nend 1\n",
                 5, "the row has no score");
  }
}

TEST_F(Profiles, that_are_too_long_are_refused) {
  std::string text = head;
  for (uint32_t i = 0; i <= Profile::most_entries; ++i) text += row("ctr 128 " + std::to_string(i) + " engine=serial");
  expect_fault(text + "end 2049\n", Profile::most_entries + 5, "there are too many rows");
}

// Whatever is done to a good one, the reader comes to an end, and what it takes is in order.
TEST_F(Profiles, that_are_damaged_at_random_never_break_the_reader) {
  const std::string good = text_of(
      {"ctr 128 64 engine=serial", "ctr 128 65536 engine=threads workers=all", "gpu-ctr 256 0 threads=64 blocks=1"});
  std::mt19937 random(20261122);
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, random() % 40);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, static_cast<char>(random()));
      } else {
        text[at] = static_cast<char>(random());
      }
      if (text.empty()) text = "x";
    }
    if (!read(text)) continue;
    for (uint32_t r = 0; r < profile_->entries; ++r) {
      char choice[256];
      write_choice(profile_->entry[r].choice, choice, sizeof choice);
      Choice again;
      ASSERT_TRUE(read_choice(choice, again, fault_)) << choice;
      ASSERT_EQ(again, profile_->entry[r].choice) << choice;
    }
  }
}

TEST_F(Profiles, find_the_row_of_a_length) {
  ASSERT_TRUE(read(
      text_of({"ctr 128 64 engine=serial", "ctr 128 65536 engine=threads", "ctr 256 1024 engine=threads workers=7"})));
  const auto found = [this](uint32_t bits, uint64_t length) -> int64_t {
    const Entry* const known = profile_->find(Operation::ctr, bits, length);
    return known == nullptr ? -1 : known - profile_->entry;
  };
  EXPECT_EQ(found(128, 63), -1);
  EXPECT_EQ(found(128, 64), 0);
  EXPECT_EQ(found(128, 65535), 0);
  EXPECT_EQ(found(128, 65536), 1);
  EXPECT_EQ(found(128, UINT64_MAX), 1);
  // The next larger size of keys, or the largest.
  EXPECT_EQ(found(192, 1024), 2);
  EXPECT_EQ(found(256, 1023), -1);
  EXPECT_EQ(found(4096, 1024), 2);
  EXPECT_EQ(profile_->find(Operation::gcm, 128, 1024), nullptr);
  // What does the same work for a block.
  EXPECT_EQ(profile_->find(Operation::cbc, 128, 64), &profile_->entry[0]);
  EXPECT_EQ(profile_->find_all(Operation::ecb, 128).size(), 2U);
}

TEST(Choices, have_what_is_said_last) {
  Choice choice, once;
  Fault fault;
  ASSERT_TRUE(read_choice("row=scalar batch=8 row=adx batch=2", choice, fault));
  ASSERT_TRUE(read_choice("batch=2 row=adx", once, fault));
  EXPECT_EQ(choice, once);
}

TEST(Choices, are_written_as_they_are_read) {
  for (const char* text : {"engine=serial", "engine=threads workers=all share=131072 stores=streaming", "batch=8",
                           "row=avx2 layers=together", "threads=1024 blocks=4 per_sm=2",
                           "engine=hybrid lanes=4 run=8388608", "engine=cuda workers=12 stores=ordinary"}) {
    Choice choice;
    Fault fault;
    ASSERT_TRUE(read_choice(text, choice, fault)) << text;
    char written[256];
    write_choice(choice, written, sizeof written);
    EXPECT_STREQ(written, text);
    // Cut off, never written beyond.
    char little[8] = "-------";
    write_choice(choice, little, sizeof little);
    EXPECT_EQ(std::string(little), std::string(text).substr(0, 7));
  }
}

TEST(BuiltInProfiles, are_good_and_each_is_of_a_class) {
  for (const BuiltIn& entry : built_in()) {
    const auto profile = std::make_unique<Profile>();
    Fault fault;
    EXPECT_TRUE(read_profile(entry.text, *profile, fault))
        << entry.name << ", line " << fault.line << ": " << fault.what;
    EXPECT_GT(profile->entries, 0U) << entry.name;
    EXPECT_STRNE(profile->machine, "") << entry.name;
    // It would be of one machine alone.
    EXPECT_STREQ(profile->fingerprint, "") << entry.name;
    EXPECT_TRUE(profile->needs != cpu::none || profile->gpu[0] != '\0') << entry.name;
    for (uint32_t i = 0; i < profile->entries; ++i) {
      EXPECT_EQ(on_gpu(profile->entry[i].operation), profile->gpu[0] != '\0')
          << entry.name << ", line " << profile->entry[i].line;
    }
  }
}

TEST(Fingerprints, tell_machines_apart) {
  const Fingerprint one = fingerprint_of("AMD EPYC 9R14", 2, cpu::aesni | cpu::avx2);
  EXPECT_STREQ(one.text, fingerprint_of("AMD EPYC 9R14", 2, cpu::aesni | cpu::avx2).text);
  EXPECT_STRNE(one.text, fingerprint_of("AMD EPYC 9R15", 2, cpu::aesni | cpu::avx2).text);
  EXPECT_STRNE(one.text, fingerprint_of("AMD EPYC 9R14", 4, cpu::aesni | cpu::avx2).text);
  EXPECT_STRNE(one.text, fingerprint_of("AMD EPYC 9R14", 2, cpu::aesni).text);
  EXPECT_STREQ(one.machine, "AMD EPYC 9R14, 2 cores");
  EXPECT_STREQ(fingerprint_of("x|y\x1b\n", 1, cpu::none).machine, "x y  , 1 core");
}

TEST(Fingerprints, are_the_same_for_the_same_machine) {
  // FNV-1a of "AMD EPYC 9R14, 2 cores; aesni avx2": a change would orphan everybody's profiles.
  EXPECT_STREQ(fingerprint_of("AMD EPYC 9R14", 2, cpu::aesni | cpu::avx2).text, "119917e39f458b62");
  EXPECT_STREQ(fingerprint().text, fingerprint_of(cpu::machine().name, cpu::machine().cores, cpu::usable()).text);
  const std::string longest(200, 'x');
  EXPECT_EQ(std::string(fingerprint_of(longest, 4096, ~cpu::Features{0}).text).size(), 16U);
}

TEST(ScopedProfiles, nest) {
  const auto outer = std::make_unique<Profile>(), inner = std::make_unique<Profile>();
  Fault fault;
  ASSERT_TRUE(read_profile(text_of({"ctr 128 64 engine=serial"}), *outer, fault));
  ASSERT_TRUE(read_profile(text_of({"gpu-ctr 128 64 threads=64"}), *inner, fault));
  const auto known = [] { return find(Operation::ctr, 128, 1 << 20); };
  {
    const ScopedProfile a(outer.get());
    EXPECT_EQ(known(), &outer->entry[0]);
    EXPECT_EQ(&profile_of(*known()), outer.get());
    {
      const ScopedProfile b(inner.get());
      EXPECT_EQ(known(), nullptr);
      EXPECT_EQ(find(Operation::gpu_ctr, 128, 64, "A card"), &inner->entry[0]);
      EXPECT_EQ(find(Operation::gpu_ctr, 128, 64, "Another card"), nullptr);
      const ScopedProfile c(nullptr);
      EXPECT_EQ(find(Operation::gpu_ctr, 128, 64, "A card"), nullptr);
    }
    EXPECT_EQ(known(), &outer->entry[0]);
  }
}

}  // namespace
}  // namespace stockade::tune
