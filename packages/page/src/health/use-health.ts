import { isInlayError, type IngestionFigures } from '@inlay/protocol'
import type { Readiness } from '@inlay/protocol/administration'
import { useEffect, useState } from 'preact/hooks'
import type { ServiceCalls } from '../service/calls.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import { latenciesOf, type Latency } from './latencies.ts'

/** How often the service is asked while the page is looked at, in milliseconds. */
const pollMs = 5_000
/** Figures that are kept for the plots: those of ten minutes. */
const maxSamples = 120

export interface Sample {
  readonly at: number
  readonly figures: IngestionFigures
}

export interface Health {
  /** Oldest first; the last is of now. */
  readonly samples: readonly Sample[]
  /** Notes of the service when it is ready, or why it is not; undefined until it was asked. */
  readonly readiness: { readonly isReady: true; readonly notes: readonly string[] } | Unready | undefined
  /** Undefined until they were read; `off` where telemetry is. */
  readonly latencies: readonly Latency[] | 'off' | undefined
  /** Why the figures are not up to date. */
  readonly failure: Failure | null
}

interface Unready {
  readonly isReady: false
  readonly reason: string
}

const unknown: Health = { samples: [], readiness: undefined, latencies: undefined, failure: null }

export function useHealth(calls: ServiceCalls): Health {
  const [health, setHealth] = useState(unknown)
  useEffect(() => {
    const leave = new AbortController()
    const { signal } = leave
    let timer: ReturnType<typeof setTimeout> | undefined
    let hasMetrics = true
    let isRefused = false
    const set = (part: (known: Health) => Partial<Health>): void => {
      if (!signal.aborted) setHealth((known) => ({ ...known, ...part(known) }))
    }
    const readFigures = async (): Promise<void> => {
      try {
        const figures = await calls.get<IngestionFigures>('/service-api/ingestion-figures', signal)
        const sample = { at: Date.now(), figures }
        set(({ samples }) => ({ samples: [...samples.slice(1 - maxSamples), sample], failure: null }))
      } catch (error) {
        const failure = toFailure(error)
        isRefused = !failure.retryable
        set(() => ({ failure }))
      }
    }
    const readReadiness = async (): Promise<void> => {
      try {
        const { notes } = await calls.get<Readiness>('/health/ready', signal)
        set(() => ({ readiness: { isReady: true, notes: notes.map(({ message }) => message) } }))
      } catch (error) {
        set(() => ({ readiness: { isReady: false, reason: toFailure(error).message } }))
      }
    }
    const readLatencies = async (): Promise<void> => {
      if (!hasMetrics) return
      try {
        const latencies = latenciesOf(await calls.text('/metrics', signal))
        set(() => ({ latencies }))
      } catch (error) {
        hasMetrics = !(isInlayError(error) && error.code === 'NOT_IMPLEMENTED')
        if (!hasMetrics) set(() => ({ latencies: 'off' }))
      }
    }
    const read = async (): Promise<void> => {
      clearTimeout(timer)
      if (document.hidden) return
      isRefused = false
      await Promise.all([readFigures(), readReadiness(), readLatencies()])
      // A refused key stays refused, so the next request waits until the user returns to the page.
      if (!signal.aborted && !document.hidden && !isRefused) timer = setTimeout(() => void read(), pollMs)
    }
    const onVisible = (): void => void read()
    document.addEventListener('visibilitychange', onVisible)
    void read()
    return () => {
      leave.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [calls])
  return health
}
