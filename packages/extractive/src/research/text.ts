import { termSet, wordsOf } from '@inlay/text'

/** Paragraphs, lists and code of a report. Text between fences stays together. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let mark = ''
  let isOpen = false
  for (const line of text.split('\n')) {
    const fence = /^(`{3,})/.exec(line)?.[1]
    if (mark === '' && line.trim() === '') {
      isOpen = false
      continue
    }
    if (isOpen) blocks[blocks.length - 1] += `\n${line}`
    else blocks.push(line)
    isOpen = true
    if (fence !== undefined) mark = mark === '' ? fence : line.startsWith(mark) ? '' : mark
  }
  return blocks
}

const isCode = (block: string): boolean => block.startsWith('```')
const isList = (block: string): boolean => block.startsWith('- ')
const isLead = (block: string): boolean => block.endsWith(':')
/** Whether a block is a paragraph that can stand alone. */
export const isProse = (block: string): boolean => !isCode(block) && !isList(block) && !isLead(block)

/** The source a block ends with. */
const sourceOf = (block: string): string | undefined => /\[(\d+)\][.!?:;,…]*$/.exec(block)?.[1]

const bare = (sentence: string): string => sentence.replace(/\s\[\d+\]/g, '')

/** What was said before in a text, so that it is not said again, also not in nearly the same words. */
export interface Memory {
  /** Whether a sentence says something new; it is remembered. */
  isNew(sentence: string): boolean
}

const mostAlike = 0.75

/** Makes a memory that holds nothing. */
export function createMemory(): Memory {
  const exact = new Set<string>()
  const known: ReadonlySet<string>[] = []
  return {
    isNew: (sentence) => {
      const key = wordsOf(bare(sentence)).join(' ')
      if (exact.has(key)) return false
      exact.add(key)
      const terms = termSet(bare(sentence))
      const isRepeat =
        terms.size > 4 &&
        known.some((other) => {
          const shared = [...terms].filter((term) => other.has(term)).length
          return shared / Math.min(terms.size, Math.max(5, other.size)) >= mostAlike
        })
      if (!isRepeat) known.push(terms)
      return !isRepeat
    },
  }
}

/** Blocks of a text with only what is new in them. */
export function newBlocks(text: string, memory: Memory): string[] {
  const fresh = blocksOf(text).flatMap((block) => {
    if (isCode(block)) return memory.isNew(block) ? [block] : []
    const glue = isList(block) ? '\n' : ' '
    const sentences = block.split(isList(block) ? '\n' : sentenceEnd)
    // A lead is needed by what it leads to, also the second time.
    const left = sentences.filter((sentence) => isLead(sentence) || memory.isNew(sentence))
    return left.length === 0 ? [] : [left.join(glue)]
  })
  const whole: string[] = []
  for (const block of fresh) {
    const last = whole.at(-1) ?? ''
    if (isList(block) && isList(last)) whole[whole.length - 1] = `${last}\n${block}`
    else whole.push(block)
  }
  return whole.flatMap((block, at) => {
    const next = whole[at + 1] ?? ''
    // A sentence that only leads to what was left out leads nowhere.
    if (isLead(block) && !isCode(next) && !isList(next)) return withoutLast(block)
    // Code and a short item say nothing by themselves.
    const isLed = isLead(whole[at - 1] ?? '')
    const isItem = isList(block) && !block.includes('\n')
    const isShort = isCode(block) || (isItem && wordsOf(block).length < 8)
    return isShort && !isLed ? [] : [block]
  })
}

const sentenceEnd = /(?<=\[\d+\][.!?:;,…]?)\s+/

function withoutLast(block: string): string[] {
  const rest = block.split(sentenceEnd).slice(0, -1)
  return rest.length === 0 ? [] : [rest.join(' ')]
}

const paragraphLimit = 700

/** Joins paragraphs of one source, and names a source once for all that follows from it without a break. */
export function arrange(blocks: readonly string[]): string[] {
  const joined: string[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    const fits =
      isProse(block) &&
      last !== undefined &&
      isProse(last) &&
      sourceOf(last) === sourceOf(block) &&
      last.length + block.length < paragraphLimit
    if (fits) joined[joined.length - 1] = `${last} ${block}`
    else joined.push(block)
  }
  return joined.map((block, at) => withFewMarkers(block, joined[at - 1]))
}

/** Leaves of several markers that name the same source in a row only the last; in a led list, the lead's. */
function withFewMarkers(block: string, before: string | undefined): string {
  if (isCode(block)) return block
  if (isList(block)) {
    const source = before !== undefined && isLead(before) ? sourceOf(before) : undefined
    const lines = block.split('\n')
    return lines.every((line) => sourceOf(line) === source) ? lines.map(bare).join('\n') : block
  }
  const sentences = block.split(sentenceEnd)
  return sentences
    .map((sentence, at) => (sourceOf(sentence) === sourceOf(sentences[at + 1] ?? '') ? bare(sentence) : sentence))
    .join(' ')
}
