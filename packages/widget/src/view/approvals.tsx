import {
  argumentTexts,
  decisionOn,
  isExpired,
  toolOf,
  type ApprovalRequest,
  type Question,
  type Turn,
} from '@inlay/client/conversation'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InlayChatTexts } from '../texts.ts'

interface ApprovalsProps {
  readonly turn: Turn
  readonly requests: readonly ApprovalRequest[]
  readonly texts: InlayChatTexts
  readonly ask: (question: Question) => void
}

/** The calls of an answer that wait, each with its arguments. It goes on once the person has decided about all. */
export function Approvals({ turn, requests, texts, ask }: ApprovalsProps): JSX.Element {
  const [decided, setDecided] = useState<ReadonlyMap<string, boolean>>(new Map())
  const decide = ({ tool_call_id: id }: ApprovalRequest, isApproved: boolean): void => {
    const all = new Map(decided).set(id, isApproved)
    setDecided(all)
    const words = (request: ApprovalRequest, isYes: boolean): string =>
      `${isYes ? texts.approve : texts.decline}: ${request.display_name}`
    if (all.size === requests.length) ask(decisionOn(turn, requests, all, words))
  }
  return (
    <>
      {requests.map((request) => {
        const { tool_call_id: id, server_name: server } = request
        const name = toolOf(request)
        const label = texts.approval.replace('{tool}', () => (server === null ? name : `${name} (${server})`))
        return (
          <div key={id} class="failure" role="group" aria-label={label}>
            <p>{label}</p>
            {argumentTexts(request).map(({ name: argument, text }) => (
              <details key={argument} open={text.length <= longText}>
                <summary>{argument}</summary>
                <pre tabIndex={0} role="group" aria-label={argument}>
                  {text}
                </pre>
              </details>
            ))}
            {isExpired(request) ? (
              <p>{texts.expired}</p>
            ) : (
              [true, false].map((isYes) => (
                <button
                  key={isYes}
                  type="button"
                  aria-pressed={decided.get(id) === isYes}
                  onClick={() => decide(request, isYes)}
                >
                  {isYes ? texts.approve : texts.decline}
                </button>
              ))
            )}
          </div>
        )
      })}
    </>
  )
}

/** Longer arguments are folded, in characters. */
const longText = 400
