import { useEffect, useRef, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'

/** How long a person may go on typing before something is looked for, in milliseconds. */
export const typingMs = 250

export interface Loaded<Value> {
  readonly value: Value | undefined
  readonly failure: Failure | null
  readonly reload: () => Promise<void>
}

interface LoadOptions<Value> {
  /** How long inputs have to stay the same before, such as those that somebody types. Default 0. */
  readonly delayMs?: number
  /** The value when the view opens. Default: it is read. */
  readonly first?: Value
}

/** Reads a value when a view opens, and again when an input changes; it stays while it is read again. */
export function useLoaded<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  { delayMs = 0, first }: LoadOptions<Value> = {},
): Loaded<Value> {
  const [value, setValue] = useState(first)
  const [failure, setFailure] = useState<Failure | null>(null)
  const reading = useRef<AbortController | undefined>(undefined)
  const load = async (): Promise<void> => {
    reading.current?.abort()
    const { signal } = (reading.current = new AbortController())
    try {
      const loaded = await read(signal)
      if (signal.aborted) return
      setValue(() => loaded)
      setFailure(null)
    } catch (error) {
      if (!signal.aborted) setFailure(toFailure(error))
    }
  }
  const isRead = useRef(first !== undefined)
  useEffect(() => {
    if (isRead.current) {
      isRead.current = false
      return undefined
    }
    const timer = delayMs > 0 ? setTimeout(() => void load(), delayMs) : void load()
    return () => {
      clearTimeout(timer)
      reading.current?.abort()
    }
  }, inputs)
  return { value, failure, reload: load }
}
