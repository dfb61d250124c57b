#include "libgraphkit/render/report/packed_columns.h"

#include <zlib.h>

#include <utility>

namespace graphkit {

namespace {

constexpr size_t kPiece = size_t{1} << 18;

}  // namespace

void PackedColumns::Begin(std::string name) {
  columns_.push_back({.name = std::move(name)});
  last_ = 0;
}

void PackedColumns::AddPiece() {
  if (!pieces_.empty()) pieces_.back().used = static_cast<size_t>(at_ - pieces_.back().bytes.get());
  pieces_.push_back({std::make_unique_for_overwrite<char[]>(kPiece)});
  at_ = pieces_.back().bytes.get();
  end_ = at_ + kPiece;
}

void PackedColumns::Write(std::ostream& out) const {
  for (const Piece& piece : pieces_) {
    const char* begin = piece.bytes.get();
    out.write(begin, &piece == &pieces_.back() ? at_ - begin : static_cast<ptrdiff_t>(piece.used));
  }
}

struct DeflatingBuffer::Stream {
  z_stream of_zlib{};
};

// Fails for lack of memory only; then the page says that it can't be read.
DeflatingBuffer::DeflatingBuffer()
    : stream_(std::make_unique<Stream>()), piece_(kPiece), compressed_(kPiece) {
  // Of reports, zlib's default of 6 takes twice as long for 5 % less.
  constexpr int kLevel = 3;
  failed_ = deflateInit(&stream_->of_zlib, kLevel) != Z_OK;
  setp(piece_.data(), piece_.data() + piece_.size());
}

DeflatingBuffer::~DeflatingBuffer() { deflateEnd(&stream_->of_zlib); }

DeflatingBuffer::int_type DeflatingBuffer::overflow(int_type character) {
  Take(false);
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

void DeflatingBuffer::Take(bool last) {
  z_stream& stream = stream_->of_zlib;
  stream.next_in = reinterpret_cast<Bytef*>(pbase());
  stream.avail_in = static_cast<uInt>(pptr() - pbase());
  taken_ += stream.avail_in;
  setp(piece_.data(), piece_.data() + piece_.size());
  int status = failed_ ? Z_MEM_ERROR : Z_OK;
  do {
    if (status != Z_OK) break;
    stream.next_out = reinterpret_cast<Bytef*>(compressed_.data());
    stream.avail_out = static_cast<uInt>(compressed_.size());
    status = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    out_.append(compressed_.data(), compressed_.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  // Without anything to do, zlib says Z_BUF_ERROR: the last piece filled the output exactly.
  failed_ = failed_ || (last ? status != Z_STREAM_END : status != Z_OK && status != Z_BUF_ERROR);
}

std::string DeflatingBuffer::Finish() {
  Take(true);
  return failed_ ? std::string() : std::move(out_);
}

std::string Deflate(std::string_view bytes) {
  DeflatingBuffer buffer;
  buffer.sputn(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return buffer.Finish();
}

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= have ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace graphkit
