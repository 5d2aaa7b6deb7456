import type { Answer, Client } from '@inlay/client'
import { isPacket, type ChatFullResponse, type PacketBody } from '@inlay/protocol'
import { createCitationText, type CitationText } from './citation-text.ts'
import type { Output } from './output.ts'
import { createTerminalMarkdown, plain } from './terminal-markdown.ts'

/** Writes the steps and then the text of an answer as they arrive. Resolves when the answer has ended. */
export async function showAnswer(output: Output, answer: Answer): Promise<ChatFullResponse> {
  let text = answerText(output)
  let hasText = false
  try {
    for await (const line of answer) {
      if (!isPacket(line) || line.placement.sub_turn_index !== null) continue
      if (line.obj.type === 'message_start' && hasText) {
        output.write(`${text.end()}\n\n`)
        text = answerText(output)
      }
      if (line.obj.type === 'message_delta') {
        hasText = true
        output.write(text.push(line.obj.content))
      } else showStep(output, line.obj)
    }
  } catch (error) {
    // Its message would stand on the last line of the text.
    if (hasText) output.write(`${text.end()}\n`)
    throw error
  }
  output.write(`${text.end()}\n`)
  return answer.whole()
}

/** Removes links from citations, and on a terminal the markup of Markdown. */
function answerText(output: Output): Pick<CitationText, 'push' | 'end'> {
  const citations = createCitationText()
  if (!output.isTerminal) return citations
  const markdown = createTerminalMarkdown(output.styled, () => output.columns)
  return {
    push: (piece) => markdown.push(citations.push(piece)),
    end: () => markdown.push(citations.end()) + markdown.end(),
  }
}

function showStep(output: Output, packet: PacketBody): void {
  if (packet.type === 'search_tool_queries_delta')
    output.note(output.styled('dim', plain(`Searching: ${packet.queries.join(' · ')}`)))
  if (packet.type === 'tool_approval_request')
    output.note(plain(`Waits for your approval of ${packet.display_name}: open the chat in the page.`))
}

export function showSources(
  output: Output,
  { citation_info: citations, top_documents: documents }: ChatFullResponse,
): void {
  if (citations.length === 0) return
  output.line()
  output.line(output.styled('bold', 'Sources'))
  for (const { citation_number, document_id } of citations) {
    const document = documents.find((candidate) => candidate.document_id === document_id)
    const place = document?.link ?? document_id
    const name = plain(document?.semantic_identifier ?? document_id)
    output.line(`[${citation_number}] ${name}  ${output.styled('dim', plain(place))}`)
  }
}

/** Whether there is an answer: it has text and, if it is from the built-in model, which only quotes, a source. */
export async function isAnswered(client: Client, whole: ChatFullResponse): Promise<boolean> {
  if (whole.answer.trim() === '') return false
  if (whole.citation_info.length > 0) return true
  const { providers, default_text: chosen } = await client.models()
  return providers.find(({ id }) => id === chosen?.provider_id)?.provider !== 'extractive'
}
