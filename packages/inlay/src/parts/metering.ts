import { estimateTokens, type TurnHooks } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import type { UsageLimits } from '@inlay/server'
import type { Telemetry } from '@inlay/telemetry'
import { runEntry } from '../log.ts'
import type { InlayOptions } from '../options/inlay-options.ts'

/** Telemetry of an assistant; undefined when it is off. */
export async function telemetryOf({ telemetry }: InlayOptions): Promise<Telemetry | undefined> {
  if (telemetry !== true) return undefined
  const { createTelemetry } = await import('@inlay/telemetry')
  return createTelemetry()
}

/** The hooks of the host, after what telemetry, limits and log are told. */
export function hooksWith(
  telemetry: Telemetry | undefined,
  limits: UsageLimits,
  { hooks, log }: InlayOptions,
): TurnHooks {
  const watchesCalls = telemetry !== undefined || hooks?.afterToolCall !== undefined
  return {
    ...(hooks?.before && { before: (turn) => hooks.before?.(turn) }),
    beforeToolCall: hooks?.beforeToolCall?.bind(hooks),
    ...(watchesCalls && {
      afterToolCall: (call) => {
        telemetry?.onToolCallEnded(call)
        return hooks?.afterToolCall?.(call)
      },
    }),
    after: async (turn) => {
      telemetry?.onTurnEnded(turn)
      const { caller, usage, userMessage, answer } = turn
      const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0)
      // If the model reports no usage, tokens are estimated from the texts.
      await limits.add(caller, 'tokensPerDay', tokens > 0 ? tokens : estimateTokens(userMessage + answer))
      log?.(runEntry(turn))
      await hooks?.after?.(turn)
    },
  }
}

/** The same conversations, within the limits of each caller: sessions and tokens of a day, uploaded files. */
export function withinLimits(agent: Conversations, limits: UsageLimits): Conversations {
  return {
    ...agent,
    send: async (request, sending) => {
      if (sending?.caller) {
        await limits.take(sending.caller, 'tokensPerDay', 0)
        if (!request.chat_session_id) await limits.take(sending.caller, 'sessionsPerDay')
      }
      return agent.send(request, sending)
    },
    sessions: {
      ...agent.sessions,
      create: async (request, caller) => {
        await limits.take(caller, 'sessionsPerDay')
        return agent.sessions.create(request, caller)
      },
    },
    files: {
      ...agent.files,
      upload: (files, options) =>
        agent.files.upload(
          eachAfter(files, () => limits.take(options.caller, 'uploadsPerDay')),
          options,
        ),
    },
  }
}

async function* eachAfter<Item>(items: AsyncIterable<Item>, before: () => Promise<void>): AsyncGenerator<Item> {
  for await (const item of items) {
    await before()
    yield item
  }
}
