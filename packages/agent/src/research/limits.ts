import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'

/** Bounds of one deep research; each has a default. At a bound it ends with a report of what was found by then. */
export interface ResearchLimits {
  /** Most tokens of all model calls together, prompts and answers. Default 2,000,000. */
  readonly tokens?: number
  /** Most that all model calls may cost, in the unit of {@link TokenPrice}. Default: no bound. */
  readonly cost?: number
  /** After which time the report is written, in milliseconds. Default half an hour. */
  readonly timeMs?: number
  /** Most rounds of delegating and thinking; the last one always writes the report. Default 8, for models that reason 4. */
  readonly cycles?: number
  /** Most research agents of a run. Default 20. */
  readonly agents?: number
  /** Most research agents at work at the same time. Default 3. */
  readonly parallelAgents?: number
  /** Most rounds of searching and reading of one agent. Default 8. */
  readonly agentCycles?: number
  /** After which time an agent writes its report, in milliseconds. Default 12 minutes. */
  readonly agentTimeMs?: number
  /** After which time an agent is given up, in milliseconds. Default half an hour. */
  readonly agentHardMs?: number
  /** Whether the model may ask back before it begins. Default: it may. */
  readonly clarifies?: boolean
}

/** Price of a token; the unit is up to the host, but the same for all models. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
}

/** Information about a deep research run before it starts. */
export interface ComingResearch {
  readonly caller: Principal
  readonly message: string
  /** Null: a new session. */
  readonly sessionId: string | null
  readonly personaId: number
  /** The model that was asked for, or the default. */
  readonly model: { readonly provider: string; readonly name: string }
  /** Origin given with the message. */
  readonly origin: string
}

/** How deep research is bounded. */
export interface ResearchOptions {
  readonly limits?: ResearchLimits
  /** Token price of a model; undefined when unknown. Default: always unknown. */
  readonly priceOf?: (model: ComingResearch['model']) => TokenPrice | undefined
  /**
   * Asked before each research: bounds for this one, over those of `limits`. An InlayError it throws refuses the
   * research and is the answer as it is; anything else is HOOK_EXECUTION_FAILED.
   */
  readonly policy?: (research: ComingResearch) => Promise<ResearchLimits | void> | ResearchLimits | void
}

/** Bounds with nothing left open; `cycles` undefined: it depends on the model. */
export interface KnownLimits extends Required<Omit<ResearchLimits, 'cost' | 'cycles'>> {
  readonly cost: number
  readonly cycles: number | undefined
}

const minuteMs = 60_000

/** Tokens from which on a model takes the reports of a whole research. */
const fullResearchTokens = 50_000

/** Limits that let the reports of a research run fit into the context window of its model. */
export function limitsOf(contextTokens: number): ResearchLimits {
  if (contextTokens >= fullResearchTokens) return {}
  const share = contextTokens / fullResearchTokens
  return {
    agents: Math.max(3, Math.round(12 * share)),
    parallelAgents: 2,
    agentCycles: Math.max(2, Math.round(6 * share)),
    cycles: 4,
  }
}

/**
 * Bounds of one research: the defaults under those of the agent under those of the request.
 * @throws VALIDATION_ERROR for a bound that is no number above 0
 */
export function toKnownLimits(...given: readonly (ResearchLimits | undefined)[]): KnownLimits {
  const merged: ResearchLimits = Object.fromEntries(
    given.flatMap((limits) => Object.entries(limits ?? {}).filter(([, value]) => value !== undefined)),
  )
  for (const [name, value] of Object.entries(merged)) {
    if (typeof value === 'number' && !(value > 0)) {
      throw new InlayError('VALIDATION_ERROR', { message: `The bound ${name} of deep research must be above 0.` })
    }
  }
  return {
    tokens: 2_000_000,
    cost: Number.POSITIVE_INFINITY,
    timeMs: 30 * minuteMs,
    agents: 20,
    parallelAgents: 3,
    agentCycles: 8,
    agentTimeMs: 12 * minuteMs,
    agentHardMs: 30 * minuteMs,
    clarifies: true,
    ...merged,
    cycles: merged.cycles,
  }
}
