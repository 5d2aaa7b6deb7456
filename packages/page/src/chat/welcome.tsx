import type { JSX } from 'preact'
import { fullCount, type Counts } from '../documents/counts.ts'
import { formatNumber } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

/** The greeting above the question field of an empty conversation. */
export function Welcome({ counts }: { counts: Counts | undefined }): JSX.Element {
  return (
    <div class="welcome">
      <h1>{texts.chat.welcome}</h1>
      <p class="lead">{leadOf(counts)}</p>
    </div>
  )
}

function leadOf(counts: Counts | undefined): string {
  if (counts === undefined) return texts.chat.eachNamesPassages
  const { total, byState } = counts
  if (total.number === 0) return texts.chat.noDocuments
  const count = texts.chat.documents(byState.indexed.number, fullCount(byState.indexed))
  const left = byState.pending.number + byState.indexing.number
  if (left > 0) return `${texts.chat.ready(count, formatNumber(left))} ${texts.chat.eachNamesPassages}`
  return `${count}. ${texts.chat.eachNamesPassages}`
}
