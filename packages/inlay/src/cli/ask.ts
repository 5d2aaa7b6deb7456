import type { SendMessageInput } from '@inlay/protocol'
import { smallTalkOf } from '@inlay/text'
import { isAnswered, showAnswer, showSources } from './answer-view.ts'
import { textOption, argumentText, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { messageOptions, messageOptionsOf } from './message-options.ts'
import { withService, type Service } from './service.ts'
import { noteEmptyFolder } from './with-inlay.ts'
import { option } from './shared-options.ts'

export const ask: Command = {
  ...commandTable.ask,
  words: [1, Number.POSITIVE_INFINITY],
  details: ['Exits with 1 if there is no answer: the model failed, or the documents do not answer the question.'],
  needs: 'a question',
  options: {
    session: option('id', 'continue this conversation'),
    ...messageOptions,
  },
  run: async (context) => {
    const question = argumentText(context, 'question')
    return withService(context, (service) => answer(context, service, question), { creates: true })
  },
}

async function answer(context: CommandContext, { client, inlay }: Service, message: string): Promise<number> {
  const { output, signal } = context
  const session = textOption(context, 'session')
  const request: SendMessageInput = {
    message,
    ...(session !== undefined && { chat_session_id: session }),
    ...(await messageOptionsOf(context, client)),
    origin: 'api',
  }
  if (inlay) await noteEmptyFolder(context, inlay)
  const sent = client.send(request)
  // A run continues on the server when its reader disconnects, so it is stopped explicitly.
  const stop = (): void => {
    if (sent.sessionId !== null) void client.stop(sent.sessionId).catch(() => {})
  }
  signal.addEventListener('abort', stop, { once: true })
  const whole = output.isJson ? await sent.whole() : await showAnswer(output, sent)
  if (output.isJson) output.json(whole)
  else {
    showSources(output, whole)
    output.note(output.styled('dim', `Continue with: inlay ask --session ${sent.sessionId} "…", or inlay chat`))
  }
  if (signal.aborted) return 130
  if (whole.error_msg !== null) {
    output.note(`inlay: ${whole.error_msg}`)
    return 1
  }
  if (smallTalkOf(message) !== undefined || (await isAnswered(client, whole))) return 0
  output.note('inlay: the documents do not answer this.')
  return 1
}
