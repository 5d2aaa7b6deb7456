import type { JSX } from 'preact'
import { sourcesOf, type Turn } from './turn.ts'

/**
 * Tells a screen reader how an answer comes along: what is done, then the whole answer once. The streamed text itself
 * is no live region, since it would be read out in fragments and over again.
 */
export function Announcer({ turn }: { turn: Turn | undefined }): JSX.Element {
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
      {turn === undefined ? '' : wordsOf(turn)}
    </div>
  )
}

function wordsOf(turn: Turn): string {
  switch (turn.phase) {
    case 'answering':
      return turn.fold.answer === '' ? 'Searching for an answer.' : 'Answering.'
    case 'stopped':
      return 'The answer was stopped.'
    case 'failed':
      // The failure has a role of its own and is read out from there.
      return ''
    case 'finished': {
      const count = sourcesOf(turn).cited.length
      const sources = count === 0 ? '' : count === 1 ? '1 source.' : `${count} sources.`
      return `${spoken(turn.fold.answer)} ${sources}`
    }
  }
}

const spoken = (answer: string): string => answer.replaceAll(/\s*\[\[\d+\]\]\([^)]*\)/g, '').replaceAll(/[*_`#>]/g, '')
