import type { TurnHooks } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { Telemetry } from '@inlay/telemetry'
import { runEntry } from '../log.ts'
import type { UsageLimits } from '@inlay/server'
import type { InlayOptions } from '../options/options.ts'
import { countTokens } from './limit-parts.ts'

/** What watches the parts of an assistant; without telemetry it hands them back as they are. */
export async function telemetryOf({ telemetry }: InlayOptions): Promise<Telemetry> {
  if (telemetry !== true) return nothing
  const { createTelemetry } = await import('@inlay/telemetry')
  return createTelemetry()
}

const nothing: Telemetry = {
  models: (provider) => provider,
  embedder: (embedder) => embedder,
  knowledge: (knowledge) => knowledge,
  agent: (agent) => agent,
  onTurnEnded: () => {},
  onToolCallEnded: () => {},
  onAnswered: () => {},
  metrics: async () => {
    throw new InlayError('NOT_IMPLEMENTED')
  },
}

/** The hooks of the host, after what telemetry, limits and log are told. */
export function hooksWith(telemetry: Telemetry, usage: UsageLimits, { hooks, log }: InlayOptions): TurnHooks {
  return {
    ...(hooks?.before && { before: (turn) => hooks.before?.(turn) }),
    beforeToolCall: hooks?.beforeToolCall?.bind(hooks),
    afterToolCall: (call) => {
      telemetry.onToolCallEnded(call)
      return hooks?.afterToolCall?.(call)
    },
    after: async (turn) => {
      telemetry.onTurnEnded(turn)
      await countTokens(turn, usage)
      log?.(runEntry(turn))
      await hooks?.after?.(turn)
    },
  }
}
