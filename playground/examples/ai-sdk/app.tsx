import { useChat } from '@ai-sdk/react'
import { inlayTransport, type InlayUIMessage } from '@inlay/client/ai-sdk'
import { isToolUIPart, getToolName } from 'ai'
import { useEffect, useState, type FormEvent, type JSX } from 'react'
import { createRoot } from 'react-dom/client'

const transport = inlayTransport({ baseUrl: '/api' })

/** The session stands in the address, so that a reload goes on with it. */
async function start(): Promise<void> {
  const sessionId = location.hash.slice(1)
  const messages = sessionId === '' ? [] : await transport.messages(sessionId)
  const container = document.querySelector('#app')
  if (container) createRoot(container).render(<Chat id={sessionId || 'new'} messages={messages} />)
}

function Chat({ id, messages: stored }: { id: string; messages: InlayUIMessage[] }): JSX.Element {
  const chat = useChat<InlayUIMessage>({ id, messages: stored, transport, resume: id !== 'new' })
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming'
  const sessionId = chat.messages.at(-1)?.metadata?.sessionId
  useEffect(() => {
    if (sessionId !== undefined) history.replaceState(null, '', `#${sessionId}`)
  }, [sessionId])
  return (
    <>
      <ol aria-label="Messages">
        {chat.messages.map((message) => (
          <li key={message.id} data-role={message.role}>
            {message.parts.map((part, at) => (
              <Part key={at} part={part} />
            ))}
          </li>
        ))}
      </ol>
      {chat.error && (
        <p role="alert">
          {chat.error.message} <button onClick={() => chat.regenerate()}>Try again</button>
        </p>
      )}
      <Composer send={chat.sendMessage} />
      {isBusy && <button onClick={() => chat.stop()}>Stop</button>}
    </>
  )
}

function Part({ part }: { part: InlayUIMessage['parts'][number] }): JSX.Element | null {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type === 'reasoning') return <details>{part.text}</details>
  if (part.type === 'source-url') return <a href={part.url}>{part.title}</a>
  if (part.type === 'source-document') return <cite>{part.title}</cite>
  if (part.type === 'file') return <a href={part.url}>{part.filename ?? String(part.providerMetadata?.inlay?.name)}</a>
  if (part.type === 'data-research') return <section>{part.data.report}</section>
  if (!isToolUIPart(part)) return null
  return (
    <p data-tool={getToolName(part)} data-state={part.state}>
      {part.state === 'output-error' ? part.errorText : JSON.stringify(part.input)}
    </p>
  )
}

function Composer({ send }: { send: (message: { text: string; files?: FileList }) => Promise<void> }): JSX.Element {
  const [text, setText] = useState('')
  const [files, setFiles] = useState<FileList | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void send({ text, ...(files && { files }) })
    setText('')
    setFiles(null)
    event.currentTarget.reset()
  }
  return (
    <form onSubmit={submit}>
      <input aria-label="Your question" value={text} onChange={(event) => setText(event.target.value)} />
      <input aria-label="Files" type="file" multiple onChange={(event) => setFiles(event.target.files)} />
      <button>Send</button>
    </form>
  )
}

void start()
