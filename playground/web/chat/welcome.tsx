import type { JSX } from 'preact'
import { fullCount, type Counts } from '../documents/counts.ts'

/** What stands above the question field before anything was asked. */
export function Welcome({ counts }: { counts: Counts | undefined }): JSX.Element {
  return (
    <div class="welcome">
      <h1>Ask your documents</h1>
      <p class="lead">{leadOf(counts)}</p>
    </div>
  )
}

function leadOf(counts: Counts | undefined): string {
  if (counts === undefined) return 'Every answer names the passages it is made of.'
  const { total, byState } = counts
  if (total.number === 0) return 'There are no documents yet: add some under Documents.'
  const count = `${fullCount(byState.indexed)} ${byState.indexed.number === 1 ? 'document' : 'documents'}`
  const left = byState.pending.number + byState.indexing.number
  if (left > 0) return `${count} ready, ${left} on the way. Every answer names the passages it is made of.`
  return `${count}. Every answer names the passages it is made of.`
}
