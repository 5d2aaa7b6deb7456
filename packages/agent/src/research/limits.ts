import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'

/** Limits of a deep research run; each has a default. At a limit, the run ends with a report of the findings so far. */
export interface ResearchLimits {
  /** Maximum tokens of all model calls, prompts and answers together. Default 2,000,000. */
  readonly maxTokens?: number
  /** Maximum cost of all model calls, in the unit of {@link TokenPrice}. Default: unlimited. */
  readonly maxCost?: number
  /** Time after which the report is written, in milliseconds. Default half an hour. */
  readonly timeoutMs?: number
  /**
   * Maximum rounds of delegating and thinking; the last one always writes the report. Default 8, for reasoning models
   * 4.
   */
  readonly maxCycles?: number
  /** Maximum research agents per run. Default 20. */
  readonly maxAgents?: number
  /** Maximum research agents running in parallel. Default 3. */
  readonly maxParallelAgents?: number
  /** Maximum rounds of searching and reading per agent. Default 8. */
  readonly maxAgentCycles?: number
  /** Time after which an agent writes its report, in milliseconds. Default 12 minutes. */
  readonly agentTimeoutMs?: number
  /** Time after which an agent is aborted, in milliseconds. Default half an hour. */
  readonly agentHardTimeoutMs?: number
  /** Whether the model may ask for clarification first. Default true. */
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
  /** The requested model, or the default one. */
  readonly model: { readonly provider: string; readonly name: string }
  /** Origin given with the message. */
  readonly origin: string
}

/** Limits of deep research. */
export interface ResearchOptions {
  readonly limits?: ResearchLimits
  /** Token price of a model; undefined when unknown. Default: always unknown. */
  readonly priceOf?: (model: ComingResearch['model']) => TokenPrice | undefined
  /**
   * Called before each research run: returns limits for it, which override `limits`. An InlayError it throws rejects
   * the request unchanged; any other error becomes HOOK_EXECUTION_FAILED.
   */
  readonly policy?: (research: ComingResearch) => Promise<ResearchLimits | void> | ResearchLimits | void
}

/** Limits with all defaults filled in; `maxCycles` is undefined where it depends on the model. */
export interface KnownLimits extends Required<Omit<ResearchLimits, 'maxCost' | 'maxCycles'>> {
  readonly maxCost: number
  readonly maxCycles: number | undefined
}

const minuteMs = 60_000

/** Context window, in tokens, that is enough for the reports of a whole run. */
const fullResearchTokens = 50_000

/** Limits that let the reports of a research run fit into the context window of its model. */
export function limitsOf(contextTokens: number): ResearchLimits {
  if (contextTokens >= fullResearchTokens) return {}
  const share = contextTokens / fullResearchTokens
  return {
    maxAgents: Math.max(3, Math.round(12 * share)),
    maxParallelAgents: 2,
    maxAgentCycles: Math.max(2, Math.round(6 * share)),
    maxCycles: 4,
  }
}

/**
 * Limits of one run: those of the request, else of the agent, else the defaults.
 * @throws VALIDATION_ERROR for a limit that is not a number above 0
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
    maxTokens: 2_000_000,
    maxCost: Number.POSITIVE_INFINITY,
    timeoutMs: 30 * minuteMs,
    maxAgents: 20,
    maxParallelAgents: 3,
    maxAgentCycles: 8,
    agentTimeoutMs: 12 * minuteMs,
    agentHardTimeoutMs: 30 * minuteMs,
    clarifies: true,
    ...merged,
    maxCycles: merged.maxCycles,
  }
}
