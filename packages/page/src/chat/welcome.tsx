import type { MinimalPersona } from '@inlay/protocol'
import { Avatar } from '../controls/avatar.tsx'
import { Button } from '../controls/button.tsx'
import { totalOf, type Counts } from '../service/counts.ts'
import type { Service } from '../service/service.ts'
import { formatNumber } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

interface WelcomeProps {
  readonly counts: Counts | undefined
  /** The agent that was chosen; undefined for the assistant itself. */
  readonly agent: MinimalPersona | undefined
  readonly service: Pick<Service, 'file'>
}

export function Welcome({ counts, agent, service }: WelcomeProps) {
  return (
    <div class="welcome">
      {agent !== undefined && <Avatar name={agent.name} pictureId={agent.uploaded_image_id} readFile={service.file} />}
      <h1 dir="auto">{agent?.name ?? texts.chat.welcome}</h1>
      <p class="lead u-above-8 u-reading" dir="auto">
        {agent?.description || leadOf(counts)}
      </p>
    </div>
  )
}

export function Starters({ agent, ask }: { agent: MinimalPersona | undefined; ask: (question: string) => void }) {
  return (
    <ul class="starters u-flex u-wrap u-gap-8" aria-label={texts.chat.starters}>
      {agent?.starter_messages?.map(({ name, message }) => (
        <li key={message}>
          <Button title={message} dir="auto" onClick={() => ask(message)}>
            {name === '' ? message : name}
          </Button>
        </li>
      ))}
    </ul>
  )
}

function leadOf(counts: Counts | undefined): string {
  if (counts === undefined) return texts.chat.eachNamesPassages
  const { indexed, pending, indexing } = counts
  if (totalOf(counts) === 0) return texts.chat.noDocuments
  const count = texts.chat.documents(indexed)
  const left = pending + indexing
  if (left > 0) return `${texts.chat.ready(count, formatNumber(left))} ${texts.chat.eachNamesPassages}`
  return `${count}. ${texts.chat.eachNamesPassages}`
}
