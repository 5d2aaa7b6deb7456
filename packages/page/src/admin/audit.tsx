import type { AuditEvent } from '@inlay/protocol/administration'
import { useEffect, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import { adminTexts } from '../texts/view-texts.ts'
import { formatTimestamp } from '../texts/locale.ts'
import { texts as pageTexts } from '../texts/texts.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { Choice, Figures, Waiting } from './parts.tsx'
import { Button } from '../controls/button.tsx'

const pageSize = 100

/** The audit log, newest first. */
export function Audit({ calls }: { calls: ServiceCalls }) {
  const texts = adminTexts.log
  const [operation, setOperation] = useState('')
  const [events, setEvents] = useState<readonly AuditEvent[] | undefined>(undefined)
  const [hasMore, setHasMore] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set())
  const read = async (before: string | undefined, signal?: AbortSignal): Promise<void> => {
    const query = new URLSearchParams({
      limit: String(pageSize),
      ...(operation !== '' && { operation }),
      ...(before !== undefined && { before }),
    })
    try {
      const page = await calls.get<readonly AuditEvent[]>(`/admin/audit?${query.toString()}`, signal)
      setEvents((shown) => (before === undefined ? page : [...(shown ?? []), ...page]))
      setHasMore(page.length === pageSize)
      setKnown((names) => new Set([...names, ...page.map((event) => event.operation)]))
      setFailure(null)
    } catch (error) {
      if (signal?.aborted !== true) setFailure(toFailure(error))
    }
  }
  useEffect(() => {
    const leave = new AbortController()
    void read(undefined, leave.signal)
    return () => leave.abort()
  }, [operation, calls])
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Choice
        label={texts.operation}
        options={[['', texts.all], ...[...known].toSorted().map((name) => [name] as const)]}
        value={operation}
        isInline
        onChange={setOperation}
      />
      <Waiting loaded={{ value: events, failure }} />
      {events?.length === 0 && <p class="nothing u-muted">{texts.none}</p>}
      {events !== undefined && events.length > 0 && (
        <Figures
          label={adminTexts.audit}
          head={[texts.time, texts.operation, texts.target, texts.caller, texts.status, texts.request]}
          words={6}
        >
          {events.map((event) => (
            <tr key={event.id}>
              <td class="time u-nowrap">{formatTimestamp(new Date(event.time))}</td>
              <td>{event.operation}</td>
              <td class="target u-anywhere">
                {Object.entries(event.target)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(', ')}
              </td>
              <td>{event.caller_id ?? texts.nobody}</td>
              <td class={event.status < 400 ? 'amount' : 'amount failure-words'}>{event.status}</td>
              <td class="request u-muted">{event.request_id}</td>
            </tr>
          ))}
        </Figures>
      )}
      {hasMore && (
        <Button class="u-begin" onClick={() => void read(events?.at(-1)?.id)}>
          {pageTexts.frame.showMore}
        </Button>
      )}
    </>
  )
}
