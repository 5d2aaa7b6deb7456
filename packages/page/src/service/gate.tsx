import { isInlayError } from '@inlay/protocol'
import { useEffect, useState } from 'preact/hooks'
import { App } from '../app.tsx'
import { Button } from '../controls/button.tsx'
import { toFailure } from './failure.ts'
import { Mark } from '../controls/icons.tsx'
import { findKey, rememberKey } from './key.ts'
import { openService, type OpenService } from './open-service.ts'
import { texts } from '../texts/texts.ts'

type State =
  | { readonly phase: 'opening' }
  | { readonly phase: 'asking'; readonly words: string }
  /** There is a key, but the server does not respond properly. */
  | { readonly phase: 'waiting'; readonly words: string; readonly key: string }
  | { readonly phase: 'open'; readonly opened: OpenService }

/** How long the page waits before it asks an absent server again; milliseconds. */
const retryMs = 2000

export function Gate() {
  const [state, setState] = useState<State>({ phase: 'opening' })
  const open = async (key: string | null): Promise<void> => {
    if (key === null) return setState({ phase: 'asking', words: texts.frame.keyIsMissing })
    try {
      const opened = await openService(key)
      rememberKey(key)
      setState({ phase: 'open', opened })
    } catch (error) {
      const words = toFailure(error).message
      const isRefused = isInlayError(error) && error.code === 'INVALID_TOKEN'
      setState(isRefused ? { phase: 'asking', words } : { phase: 'waiting', words, key })
    }
  }
  useEffect(() => {
    void findKey().then(open)
  }, [])
  useEffect(() => {
    if (state.phase !== 'waiting') return undefined
    const timer = setTimeout(() => void open(state.key), retryMs)
    return () => clearTimeout(timer)
  }, [state])
  if (state.phase === 'opening') return null
  if (state.phase === 'waiting') return <Waiting words={state.words} retry={() => void open(state.key)} />
  if (state.phase === 'open') return <App {...state.opened} />
  return <KeyForm words={state.words} open={(key) => void open(key)} />
}

function Waiting({ words, retry }: { words: string; retry: () => void }) {
  return (
    <main class="gate u-center u-gap-12 u-all-columns">
      <Mark />
      <h1>Inlay</h1>
      <p class="lead" role="status">
        {words} {texts.frame.goesOnAlone}
      </p>
      <Button kind="filled" onClick={retry}>
        {texts.frame.tryNow}
      </Button>
    </main>
  )
}

function KeyForm({ words, open }: { words: string; open: (key: string) => void }) {
  const [key, setKey] = useState('')
  return (
    <main class="gate u-center u-gap-12 u-all-columns">
      <Mark />
      <h1>Inlay</h1>
      <p class="lead" role="status">
        {words}
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (key.trim() !== '') open(key.trim())
        }}
      >
        <label class="visually-hidden" for="key">
          {texts.frame.key}
        </label>
        <input
          class="u-surface"
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder={texts.frame.key}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={key.trim() === ''}>
          {texts.frame.open}
        </button>
      </form>
    </main>
  )
}
