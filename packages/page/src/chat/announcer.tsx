import { disconnectedNote } from './answer-view.tsx'
import { plainText } from '../markdown/markdown.tsx'
import { texts } from '../texts/texts.ts'
import { plainAnswer } from './copied-answer.ts'
import { sourcesOf, waitingCallsOf, type Turn } from '@inlay/client/conversation'

/**
 * Tells a screen reader how an answer comes along: what is done, then a short answer once. The streamed text itself
 * is no live region, since it would be read out in fragments and over again.
 */
export function Announcer({ turn }: { turn: Turn | undefined }) {
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
      {turn === undefined ? '' : announcementOf(turn)}
    </div>
  )
}

function announcementOf(turn: Turn): string {
  switch (turn.phase) {
    case 'answering':
      if (turn.isDisconnected) return disconnectedNote()
      return turn.fold.answer === '' ? texts.chat.searchingAnswer : texts.chat.answering
    case 'stopped':
      return texts.chat.wasStopped
    case 'failed':
      // The failure has a role of its own and is read out from there.
      return ''
    case 'finished': {
      if (waitingCallsOf(turn, true).length > 0) return texts.chat.approval.title
      const count = sourcesOf(turn).cited.length
      const sources = count === 0 ? '' : texts.chat.sources(count)
      // Users cannot stop or skip a live region, so a long answer is not announced in full.
      if (turn.fold.answer.length > 4 * maxSpoken) return `${texts.chat.isComplete} ${sources}`
      // Without the numbers of sources, which are counted.
      const text = plainAnswer(turn.fold.answer, plainText)
      return text.length <= maxSpoken ? `${text} ${sources}` : `${texts.chat.isComplete} ${sources}`
    }
  }
}

/** Longest answer that is read out by itself, in characters. */
const maxSpoken = 500
