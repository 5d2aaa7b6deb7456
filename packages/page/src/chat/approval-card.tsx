import {
  argumentTexts,
  decisionOn,
  isExpired,
  toolOf,
  type ApprovalRequest,
  type Question,
  type Turn,
} from '@inlay/client/conversation'
import { useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'

interface ApprovalCardProps {
  readonly turn: Turn
  readonly requests: readonly ApprovalRequest[]
  readonly ask: (question: Question) => void
}

/** The calls of an answer that wait, each with its arguments. It goes on once the person has decided about all. */
export function ApprovalCard({ turn, requests, ask }: ApprovalCardProps) {
  const [decided, setDecided] = useState<ReadonlyMap<string, boolean>>(new Map())
  const words = texts.chat.approval
  const decide = ({ tool_call_id: id }: ApprovalRequest, isApproved: boolean): void => {
    const all = new Map(decided).set(id, isApproved)
    setDecided(all)
    if (all.size < requests.length) return
    ask(
      decisionOn(turn, requests, all, ({ display_name: name }, isYes) =>
        (isYes ? words.approved : words.declined)(name),
      ),
    )
  }
  return (
    <section class="u-grid u-gap-12 u-one-column u-above-8" aria-label={words.title}>
      {requests.map((request) => {
        const { tool_call_id: id, server_name: server } = request
        const name = toolOf(request)
        const label = server === null ? words.wants(name) : words.wantsOf(name, server)
        return (
          <div key={id} class="approval u-card" role="group" aria-label={label}>
            <p class="u-medium">{label}</p>
            <dl class="u-small u-anywhere">
              {argumentTexts(request).map(({ name: argument, text }) => (
                <div key={argument}>
                  <dt class="u-muted">{argument}</dt>
                  <dd>{text.length > longText ? <Folded text={text} /> : <pre>{text}</pre>}</dd>
                </div>
              ))}
            </dl>
            {isExpired(request) ? (
              <p class="u-muted">{words.expired}</p>
            ) : (
              <div class="u-flex u-gap-8">
                {[true, false].map((isYes) => (
                  <button
                    key={isYes}
                    type="button"
                    class={isYes ? 'button' : 'quiet-button'}
                    aria-pressed={decided.get(id) === isYes}
                    onClick={() => decide(request, isYes)}
                  >
                    {isYes ? words.approve : words.decline}
                  </button>
                ))}
              </div>
            )}
          </div>
        )
      })}
    </section>
  )
}

/** Longer arguments are folded, in characters. */
const longText = 400

const Folded = ({ text }: { text: string }) => (
  <details>
    <summary>{text.slice(0, 120)}…</summary>
    <pre>{text}</pre>
  </details>
)
