import type { StreamLine } from '@inlay/protocol'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { adminTexts } from '../texts/view-texts.ts'
import { Choice } from './parts.tsx'

/** Kind of a line: the type of its packet, or the name of its distinguishing field. */
export function typeOf(line: StreamLine): string {
  if ('obj' in line) return line.obj.type
  return Object.keys(line)[0] ?? ''
}

/** Groups consecutive pieces of a text, since an answer has hundreds of them. */
export function groupsOf(lines: readonly StreamLine[]) {
  const groups: { type: string; first: number; lines: StreamLine[] }[] = []
  lines.forEach((line, at) => {
    const type = typeOf(line)
    const last = groups.at(-1)
    if (last?.type === type && type.endsWith('_delta')) last.lines.push(line)
    else groups.push({ type, first: at + 1, lines: [line] })
  })
  return groups
}

/** Interval of rendering, in milliseconds, since lines arrive faster than a browser renders. */
const drawMs = 100

/** The lines of the latest answer of a chat, live while it streams. */
export function Packets({ service }: { service: Pick<Service, 'chats' | 'follow'> }) {
  const texts = adminTexts.packet
  const { value: chats, failure: listFailure } = useLoaded(async () => (await service.chats('', null)).chats, [service])
  const [chosen, setChosen] = useState('')
  const sessionId = chosen || (chats?.[0]?.id ?? '')
  const [lines, setLines] = useState<readonly StreamLine[]>([])
  const [isLive, setIsLive] = useState(false)
  const [readFailure, setFailure] = useState<Failure | null>(null)
  const failure = listFailure ?? readFailure
  useEffect(() => {
    setLines([])
    setFailure(null)
    if (sessionId === '') return undefined
    const leave = new AbortController()
    const taken: StreamLine[] = []
    const draw = setInterval(() => setLines((shown) => (shown.length === taken.length ? shown : [...taken])), drawMs)
    const watch = async (): Promise<void> => {
      setIsLive(true)
      try {
        for await (const line of service.follow(sessionId, { signal: leave.signal })) taken.push(line)
      } catch (error) {
        if (!leave.signal.aborted) setFailure(toFailure(error))
      } finally {
        clearInterval(draw)
        if (!leave.signal.aborted) {
          setLines([...taken])
          setIsLive(false)
        }
      }
    }
    void watch()
    return () => leave.abort()
  }, [service, sessionId])
  return (
    <>
      <p class="lead">{texts.lead}</p>
      {chats?.length === 0 && <p class="nothing u-muted">{texts.none}</p>}
      {chats !== undefined && chats.length > 0 && (
        <Choice
          label={texts.chat}
          options={chats.map(({ id, name }) => [id, name === '' ? texts.unnamed : name])}
          value={sessionId}
          isInline
          onChange={setChosen}
        />
      )}
      {failure !== null && <FailureNote failure={failure} />}
      <div class="row">
        <p role="status" class="facts u-small u-anywhere">
          {isLive ? texts.live : lines.length > 0 ? texts.ended(lines.length) : ''}
        </p>
        {lines.length > 0 && !isLive && (
          <CopyButton text={() => lines.map((line) => JSON.stringify(line)).join('\n')} label={texts.copyAll} />
        )}
      </div>
      <ol class="packets u-grid u-gap-4">
        {groupsOf(lines).map((group) => (
          <li key={group.first}>
            <details>
              <summary>
                <span class="count">{group.first}</span> <code>{group.type}</code>{' '}
                {group.lines.length > 1 && (
                  <span class="facts u-small u-anywhere">{texts.text(group.lines.length)}</span>
                )}
              </summary>
              <pre tabIndex={0} role="group" aria-label={group.type}>
                {group.lines.map((line) => JSON.stringify(line, null, group.lines.length > 1 ? 0 : 2)).join('\n')}
              </pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  )
}
