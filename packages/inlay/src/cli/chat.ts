import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Answer } from '@inlay/client'
import { isInlayError, suggestionFor, type ChatFullResponse, type SendMessageInput } from '@inlay/protocol'
import { showAnswer, showSources } from './answer-view.ts'
import { textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { findAgent, findModel, messageOptions, messageOptionsOf } from './message-options.ts'
import { withService, type Service } from './service.ts'
import { noteEmptyFolder } from './with-inlay.ts'
import { option } from './shared-options.ts'

const slashHelp = [
  '/sources        sources of the last answer',
  '/file <path>    attach a file to the next question',
  '/agent [name]   list the agents, or start a new conversation with one',
  '/model [name]   list the models, or select one',
  '/new            start a new conversation',
  '/stop           stop the current answer (same as Ctrl+C)',
  '/quit           exit (same as Ctrl+D)',
]

export const chat: Command = {
  ...commandTable.chat,
  words: [0, 0],
  details: [
    'Type a question and press Enter. A question typed during an answer is asked after it.',
    ...slashHelp,
    'With piped input, each line is a question; the answers go to standard output.',
  ],
  options: {
    session: option('id', 'continue this conversation'),
    ...messageOptions,
  },
  run: (context) =>
    withService(
      context,
      async (service) => {
        if (service.inlay) await noteEmptyFolder(context, service.inlay)
        return new Chat(context, service, await messageOptionsOf(context, service.client)).run()
      },
      { creates: true },
    ),
}

/** A path as a shell would read it: terminals quote or escape the name of a file that is dropped on them. */
function pathOf(given: string): string {
  const quoted = /^(['"])(.*)\1$/.exec(given)?.[2]
  const path = quoted ?? (process.platform === 'win32' ? given : given.replace(/\\(.)/g, '$1'))
  return path.replace(/^~(?=\/)/, homedir())
}

/** Asks the terminal to mark the start and end of a pasted text. */
const pasteMode = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

type NextMessage = Pick<SendMessageInput, 'chat_session_info' | 'llm_override' | 'deep_research'>

class Chat {
  readonly #context: CommandContext
  readonly #service: Service
  readonly #lines: Interface
  readonly #isInteractive: boolean
  #options: NextMessage
  #sessionId: string | undefined
  #files: { readonly id: string; readonly name: string }[] = []
  #running: Answer | undefined
  #last: ChatFullResponse | undefined
  #hasFailed = false
  /** Lines of a pasted text: they and the line that is entered are one message. */
  #pasted: string[] = []
  #isPasting = false

  constructor(context: CommandContext, service: Service, options: NextMessage) {
    this.#context = context
    this.#service = service
    this.#options = options
    this.#sessionId = textOption(context, 'session')
    const { input, output } = context
    this.#isInteractive = output.isTerminal && 'isTTY' in input && input.isTTY === true
    this.#lines = createInterface({
      input,
      ...(this.#isInteractive && { output: process.stderr, prompt: '› ', historySize: 500 }),
    })
  }

  /** Answers questions until the input ends. @returns the exit code: 1 if a question failed */
  async run(): Promise<number> {
    const { signal, output } = this.#context
    if (this.#isInteractive) output.note(`${this.#service.place}. /help lists the commands.`)
    // Ctrl+C stops the current answer; at the prompt it exits.
    this.#lines.on('SIGINT', () => {
      this.#pasted = []
      if (this.#running) void this.#stop()
      else this.#lines.close()
    })
    const end = (): void => {
      void this.#stop()
      this.#lines.close()
    }
    signal.addEventListener('abort', end, { once: true })
    const queue: string[] = []
    let arrived = Promise.withResolvers<void>()
    let isOver = false
    if (this.#isInteractive) this.#watchPastes()
    const enter = (): void => {
      const lines = this.#pasted.splice(0)
      // A command after a pasted text is no part of it.
      const cut = /^\s*\/(?:quit|exit|stop)\s*$/.test(lines.at(-1) ?? '') ? lines.length - 1 : lines.length
      for (const part of [lines.slice(0, cut), lines.slice(cut)]) {
        const text = part.join('\n').trim()
        // Handled at once, before the questions in the queue.
        if (text === '/stop') void this.#stop()
        else if (text !== '') queue.push(text)
      }
      arrived.resolve()
    }
    this.#lines.on('line', (line) => {
      this.#pasted.push(line)
      if (!this.#isPasting) enter()
    })
    this.#lines.once('close', () => {
      isOver = true
      if (signal.aborted) this.#pasted = []
      enter()
    })
    for (;;) {
      const line = queue.shift()
      if (line !== undefined) {
        if (line === '/quit' || line === '/exit') break
        await this.#answer(line)
        continue
      }
      if (isOver || signal.aborted) break
      arrived = Promise.withResolvers()
      if (this.#isInteractive) this.#lines.prompt()
      await arrived.promise
    }
    this.#lines.close()
    if (this.#isInteractive) process.stderr.write(pasteMode.off)
    if (this.#isInteractive && this.#sessionId !== undefined)
      output.note(`Continue later with: inlay chat --session ${this.#sessionId}`)
    return signal.aborted ? 130 : this.#hasFailed ? 1 : 0
  }

  #watchPastes(): void {
    process.stderr.write(pasteMode.on)
    this.#context.input.on('keypress', (_, { name, ctrl }: { readonly name?: string; readonly ctrl?: boolean }) => {
      if (name === 'paste-start') this.#isPasting = true
      if (name === 'paste-end') this.#isPasting = false
      if (name === 'u' && ctrl && !this.#isPasting) this.#pasted = []
    })
  }

  async #stop(): Promise<void> {
    const id = this.#running?.sessionId
    if (id) await this.#service.client.stop(id).catch(() => {})
  }

  /** Answers a line; errors are printed, and the conversation continues. */
  async #answer(line: string): Promise<void> {
    const { output } = this.#context
    try {
      if (line.startsWith('/')) await this.#command(line)
      else await this.#ask(line)
    } catch (error) {
      this.#hasFailed = true
      output.note(`inlay: ${isInlayError(error) || error instanceof Error ? error.message : 'something failed.'}`)
    }
  }

  async #ask(message: string): Promise<void> {
    const { output } = this.#context
    const { chat_session_info: opening, ...options } = this.#options
    const answer = this.#service.client.send({
      message,
      ...options,
      ...(this.#sessionId === undefined ? { chat_session_info: opening } : { chat_session_id: this.#sessionId }),
      ...(this.#files.length > 0 && { file_descriptors: this.#files.map(({ id, name }) => ({ id, name })) }),
      origin: 'api',
    })
    this.#running = answer
    try {
      const whole = output.isJson ? await answer.whole() : await showAnswer(output, answer)
      this.#last = whole
      this.#files = []
      if (output.isJson) output.json(whole)
      else if (whole.error_msg === null) showSources(output, whole)
      if (whole.error_msg !== null) throw new Error(whole.error_msg)
    } finally {
      this.#running = undefined
      this.#sessionId = answer.sessionId ?? this.#sessionId
    }
    if (!output.isJson) output.line()
  }

  async #command(line: string): Promise<void> {
    const { output } = this.#context
    const [, name = '', argument = ''] = /^\/(\S*)(?:\s+(\S.*)?)?$/s.exec(line) ?? []
    if (name === 'sources') return this.#showSources()
    if (name === 'file') return this.#attach(argument)
    if (name === 'agent') return this.#chooseAgent(argument)
    if (name === 'model') return this.#chooseModel(argument)
    if (name === 'new') return this.#startAnew()
    if (name !== 'help') {
      const meant = suggestionFor(name, ['help', 'sources', 'file', 'agent', 'model', 'new', 'stop', 'quit'])
      if (meant !== undefined) return output.note(`inlay: there is no command /${name}. Did you mean /${meant}?`)
      output.note(`inlay: there is no command /${name}.`)
    }
    slashHelp.forEach((line) => output.note(line))
  }

  #showSources(): void {
    const { output } = this.#context
    if (this.#last === undefined || this.#last.citation_info.length === 0)
      output.note('The last answer has no sources.')
    else showSources(output, this.#last)
  }

  async #attach(given: string): Promise<void> {
    const { output } = this.#context
    const path = pathOf(given)
    if (path === '') return output.note('Specify a file: /file report.pdf')
    const bytes = await readFile(path).catch((cause: unknown) => {
      const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      throw new Error(isMissing ? `there is no file "${path}".` : `${path} cannot be read.`, { cause })
    })
    const { files } = this.#service.client
    const { user_files: taken, rejected_files: refused } = await files.upload([
      { name: basename(path), content: new Blob([bytes]) },
    ])
    for (const { file_name: name, reason } of refused) throw new Error(`${name}: ${reason}`)
    const [read] = await files.whenRead(taken.map(({ id }) => id))
    if (read === undefined || read.status === 'FAILED') throw new Error(`${path} cannot be read as a document.`)
    this.#files.push({ id: read.file_id, name: read.name })
    output.note(`${read.name} will be sent with the next question.`)
  }

  async #chooseAgent(wanted: string): Promise<void> {
    const { output } = this.#context
    const { client } = this.#service
    if (wanted === '') {
      for (const { id, name, description } of await client.agents.list()) output.note(`${id}  ${name}  ${description}`)
      return
    }
    const { id, name } = await findAgent(client, wanted)
    this.#options = { ...this.#options, chat_session_info: { persona_id: id } }
    this.#startAnew()
    output.note(`${name} answers from now on.`)
  }

  async #chooseModel(wanted: string): Promise<void> {
    const { output } = this.#context
    const models = await this.#service.client.models()
    if (wanted !== '') {
      const chosen = findModel(models, wanted)
      this.#options = { ...this.#options, llm_override: chosen }
      return output.note(`${chosen.model_provider}/${chosen.model_version} answers from now on.`)
    }
    for (const { name: provider, model_configurations: known } of models.providers)
      for (const { name } of known) output.note(`${provider}/${name}`)
  }

  #startAnew(): void {
    this.#sessionId = undefined
    this.#last = undefined
    this.#context.output.note('Started a new conversation.')
  }
}
