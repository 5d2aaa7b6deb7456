import { useEffect, useState } from 'preact/hooks'

/** Creates a hook that returns a value once its code is loaded, which the first component triggers. */
export function lazily<Value>(read: () => Promise<Value>): (isWanted: boolean) => Value | undefined {
  let value: Value | undefined
  let loading: Promise<void> | undefined
  return (isWanted) => {
    const [known, setKnown] = useState(() => value)
    useEffect(() => {
      if (!isWanted || known !== undefined) return
      loading ??= read().then(
        (loaded) => {
          value = loaded
        },
        (error: unknown) => {
          // The next component that wants it reads again.
          loading = undefined
          throw error
        },
      )
      // Without it, a component shows plain text.
      loading.then(
        () => setKnown(() => value),
        () => {},
      )
    }, [isWanted, known])
    return known
  }
}
