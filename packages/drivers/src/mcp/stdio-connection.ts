import { InlayError, type JsonObject } from '@inlay/protocol'
import { installed, toMissing } from '../installed.ts'
import { createInbox } from './inbox.ts'
import { lost, type Connection } from './messages.ts'

/** A program and its arguments; no shell reads them. */
export interface StdioProgram {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few variables that every program needs, such as `PATH`; others of the host are not passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Working folder. Default: that of the host. */
  readonly cwd?: string
}

const maxMessageBytes = 64 * 2 ** 20

/** Starts a program and speaks with it. It ends with the connection, and when the host ends. */
export async function connectByStdio(
  { command, args = [], env = {}, cwd }: StdioProgram,
  onToolsChanged?: () => void,
): Promise<Connection> {
  const { StdioClientTransport } = await installed('@modelcontextprotocol/client', () =>
    import('@modelcontextprotocol/client/stdio').catch(toMissing),
  )
  const program = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    stderr: 'ignore',
    maxBufferSize: maxMessageBytes,
  })
  const send = (message: JsonObject): Promise<void> => program.send(message as Parameters<typeof program.send>[0])
  const inbox = createInbox(send, onToolsChanged)
  program.onmessage = (message) => inbox.take(JSON.stringify(message))
  program.onclose = () => inbox.fail(lost())
  await program.start().catch((cause: unknown) => {
    const message = `The program of the MCP server does not start: ${cause instanceof Error ? cause.message : ''}.`
    throw new InlayError('BAD_GATEWAY', { message, cause })
  })
  return { ...inbox.connection, agree: () => {}, close: () => program.close() }
}
