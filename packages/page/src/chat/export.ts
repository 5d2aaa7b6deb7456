import type { ChatSessionDetail } from '@inlay/protocol'
import { texts } from '../texts/texts.ts'
import { withPlainCitations } from './copied-answer.ts'
import { sourcesOf, storedTurns, type Turn } from '@inlay/client/conversation'

/** A conversation as Markdown, along the branch that is shown: questions as headings, sources as a list below each answer. */
export function asMarkdown(name: string, turns: readonly Turn[]): string {
  const parts = turns.map((turn) => {
    const { cited } = sourcesOf(turn)
    const sources = cited.map(({ number, passages: [first] }) => {
      const title = first.semantic_identifier.replaceAll(/[[\]]/g, '\\$&')
      return `${number}. ${first.link ? `[${title}](<${first.link}>)` : title}`
    })
    return [
      headed(turn.question),
      withPlainCitations(turn.fold.answer.trim()),
      ...(sources.length > 0 ? [`**${texts.sources.many}**`, sources.join('\n')] : []),
    ]
  })
  return `${[`# ${name}`, ...parts.flat()].filter(Boolean).join('\n\n')}\n`
}

function headed(question: string): string {
  return question.includes('\n') ? `## ${texts.chat.question}\n\n${question}` : `## ${question}`
}

export function exported(session: ChatSessionDetail, kind: 'markdown' | 'json'): File {
  const name = session.description || texts.chat.untitled
  const fileName =
    name
      .replaceAll(/[\s\\/:*?"<>|\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, 80) || texts.chat.untitled
  if (kind === 'json')
    return new File([JSON.stringify(session, null, 2)], `${fileName}.json`, { type: 'application/json' })
  return new File([asMarkdown(name, storedTurns(session, 1, texts.chat).turns)], `${fileName}.md`, {
    type: 'text/markdown',
  })
}
