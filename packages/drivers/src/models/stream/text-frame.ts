/** Reads the text out of chunks that differ in nothing else: most of an answer are such. */
export interface TextFrame {
  /** The text, when the rest of the data is what it was in the chunk that was learnt last; undefined when it is not. */
  read(data: string): string | undefined
  /** Learns what stands around the text of a chunk. */
  learn(data: string): void
}

/** Lessons in vain after which an answer is one whose chunks always differ, as with random padding. */
const mostLessons = 4
const sample = 'sample'
// Characters that need escapes in a JSON string.
// oxlint-disable-next-line no-control-regex -- JSON requires escapes for all of them
const notPlain = /["\\\0-\x1f]/

/**
 * Makes a frame. Parsing a chunk costs as much as all else that is done with it; comparing what stands before and
 * behind its text costs a tenth of that, and says as much: text without a quote or an escape is a string as it stands.
 * @param textOf the text of parsed data, when it says nothing else; undefined for any other data
 */
export function createTextFrame(textOf: (data: string) => string | undefined): TextFrame {
  let head = ''
  let tail = ''
  let lessons = 0
  return {
    read: (data) => {
      if (head === '' || data.length <= head.length + tail.length) return undefined
      if (!data.startsWith(head) || !data.endsWith(tail)) return undefined
      const text = data.slice(head.length, data.length - tail.length)
      if (notPlain.test(text)) return undefined
      lessons = 0
      return text
    },
    learn: (data) => {
      if (lessons === mostLessons) return
      const key = /"content": ?"/.exec(data)
      if (key === null) return
      const start = key.index + key[0].length
      const end = data.indexOf('"', start)
      // Nothing is to be learnt from a text with escapes.
      if (end === -1 || notPlain.test(data.slice(start, end))) return
      lessons++
      head = ''
      const [before, behind] = [data.slice(0, start), data.slice(end)]
      // Whether this is the place the text is read from, and the only thing that is said, is asked of who reads it.
      if (textOf(before + sample + behind) === sample) [head, tail] = [before, behind]
    },
  }
}
