import type { Action, ActionTurn } from '@inlay/agent'
import { isInlayError, isJsonObject, type JsonObject, type PacketBody } from '@inlay/protocol'
import { jsonSchemaInput } from '../json-schema-input.ts'
import { isRefused } from './messages.ts'
import type { OnProgress, RemoteOutcome, RemoteTool } from './session.ts'
import { readOutcome, toModelText } from './tool-answer.ts'

export interface OfferedTool {
  readonly id: number
  /** The name the model sees. */
  readonly name: string
  readonly serverId: number
  readonly serverName: string
  readonly tool: RemoteTool
  readonly missingHeaders: readonly string[]
  readonly call: (input: JsonObject, turn: ActionTurn, onProgress: OnProgress) => Promise<RemoteOutcome>
  readonly onError: (error: unknown) => void
}

/** A call throws only when aborted, or by `emit`: failures of the tool are returned as its answer. */
export function toToolAction(offered: OfferedTool): Action {
  const { id, name, serverId, serverName, tool } = offered
  return {
    id,
    name,
    displayName: tool.title || tool.name,
    description: tool.description || tool.title || tool.name,
    builtIn: null,
    mcpServerId: serverId,
    serverName,
    isReadOnly: tool.isReadOnly,
    input: jsonSchemaInput(tool.inputSchema),
    start: () => ({ type: 'custom_tool_start', tool_name: name, tool_id: null }),
    run: async (input, turn) => {
      // The schema above only accepts objects.
      const answer = await answerOf(offered, isJsonObject(input) ? input : {}, turn)
      turn.emit(
        'result' in answer
          ? deltaOf(name, { tool_result: answer.result }, answer.fileIds)
          : deltaOf(name, { error: answer.error }),
      )
      return { text: toModelText(name, answer, turn.resultTokens) }
    },
  }
}

type ToolAnswer = { readonly result: string; readonly fileIds: readonly string[] } | { readonly error: string }

async function answerOf(offered: OfferedTool, input: JsonObject, turn: ActionTurn): Promise<ToolAnswer> {
  const { name, serverName, missingHeaders, call, onError } = offered
  if (missingHeaders.length > 0)
    return { error: `${serverName} needs values for its connection: ${missingHeaders.join(', ')}, in mcp_headers.` }
  try {
    const outcome = await call(input, turn, toProgressPackets(name, turn))
    const { text, fileIds } = await readOutcome(name, outcome, turn)
    return outcome.isError ? { error: failureText(name, text) } : { result: text, fileIds }
  } catch (error) {
    turn.signal.throwIfAborted()
    if (isRefused(error)) return { error: refusedText(name) }
    onError(error)
    return { error: failureText(name, isInlayError(error) ? error.message : 'It failed.') }
  }
}

// Whoever follows an answer reads them all, and they are stored with it.
const maxProgressPackets = 100

/** Tells how far a call is, until its result takes that place. */
function toProgressPackets(name: string, turn: ActionTurn): OnProgress {
  let last = ''
  let count = 0
  return (progress) => {
    if (progress === last || turn.signal.aborted || ++count > maxProgressPackets) return
    last = progress
    turn.emit(deltaOf(name, { progress }))
  }
}

const deltaOf = (name: string, data: JsonObject, fileIds: readonly string[] = []): PacketBody => ({
  type: 'custom_tool_delta',
  tool_name: name,
  tool_id: null,
  response_type: 'json',
  data,
  file_ids: fileIds.length > 0 ? [...fileIds] : null,
  error: null,
})

const refusal = /\b(401|403|unauthori[sz]ed|forbidden|(invalid|expired|missing) (access )?token|authentication)\b/i

function failureText(name: string, reason: string): string {
  return refusal.test(reason) ? `${refusedText(name)} ${reason}`.trim() : `${name} failed: ${reason}`
}

function refusedText(name: string): string {
  return `${name} refused its credentials.`
}
