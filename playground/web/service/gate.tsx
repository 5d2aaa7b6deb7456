import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { App } from '../app.tsx'
import { toFailure } from './failure.ts'
import { Mark } from '../controls/icons.tsx'
import { findKey, rememberKey } from './key.ts'
import { openService, type OpenService } from './open-service.ts'

type State =
  | { readonly phase: 'opening' }
  | { readonly phase: 'asking'; readonly words: string }
  | { readonly phase: 'open'; readonly opened: OpenService }

const withoutKey = 'Open the address that was printed when the server started, or paste the key printed below it.'

/** Opens the page with the key of the printed address, or asks for one. */
export function Gate(): JSX.Element | null {
  const [state, setState] = useState<State>({ phase: 'opening' })
  const open = async (key: string | null): Promise<void> => {
    if (key === null) return setState({ phase: 'asking', words: withoutKey })
    try {
      const opened = await openService(key)
      rememberKey(key)
      setState({ phase: 'open', opened })
    } catch (error) {
      setState({ phase: 'asking', words: toFailure(error).message })
    }
  }
  useEffect(() => {
    void findKey().then(open)
  }, [])
  if (state.phase === 'opening') return null
  if (state.phase === 'open') return <App service={state.opened.service} modelName={state.opened.modelName} />
  return <KeyForm words={state.words} open={(key) => void open(key)} />
}

function KeyForm({ words, open }: { words: string; open: (key: string) => void }): JSX.Element {
  const [key, setKey] = useState('')
  return (
    <main class="gate">
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
          API key
        </label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="API key"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={key.trim() === ''}>
          Open
        </button>
      </form>
    </main>
  )
}
