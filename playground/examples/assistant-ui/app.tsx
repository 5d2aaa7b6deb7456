import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  ErrorPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type SourceMessagePart,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react'
import { useChatRuntime } from '@assistant-ui/react-ai-sdk'
import { inlayTransport } from '@inlay/client/ai-sdk'
import type { JSX } from 'react'
import { createRoot } from 'react-dom/client'

const transport = inlayTransport({ baseUrl: '/api' })

function App(): JSX.Element {
  const runtime = useChatRuntime({ transport })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport aria-label="Messages">
          <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Your question" />
          <ThreadPrimitive.If running={false}>
            <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          </ThreadPrimitive.If>
          <ThreadPrimitive.If running>
            <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          </ThreadPrimitive.If>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

function Message(): JSX.Element {
  return (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts components={{ Source, tools: { Fallback: Tool } }} />
      <MessagePrimitive.Error>
        <ErrorPrimitive.Root role="alert">
          <ErrorPrimitive.Message />
        </ErrorPrimitive.Root>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  )
}

function Source(source: SourceMessagePart): JSX.Element {
  return source.sourceType === 'url' ? <a href={source.url}>{source.title}</a> : <cite>{source.title}</cite>
}

function Tool({ toolName, argsText, status }: ToolCallMessagePartProps): JSX.Element {
  return (
    <p data-tool={toolName} data-state={status.type}>
      {argsText}
    </p>
  )
}

const container = document.querySelector('#app')
if (container) createRoot(container).render(<App />)
