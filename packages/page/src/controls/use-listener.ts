import { useEffect, useRef } from 'preact/hooks'

/** Calls the listener of the last rendering, while the component is there. */
export function useListener<Name extends keyof (WindowEventMap & DocumentEventMap)>(
  target: Window | Document,
  name: Name,
  listener: (event: (WindowEventMap & DocumentEventMap)[Name]) => void,
  options: AddEventListenerOptions = {},
): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const leave = new AbortController()
    // An event of this name is of this type.
    const take = (event: Event): void => latest.current(event as Parameters<typeof listener>[0])
    target.addEventListener(name, take, { ...options, signal: leave.signal })
    return () => leave.abort()
  }, [])
}
