import type { TokenPrice } from './limits.ts'

/** Purpose of a call. Later phases may use more of the budget, so that a report can always be written. */
export type SpendingPhase = 'research' | 'report' | 'final'

/** Resources that a call may use. */
export interface Allowance {
  readonly promptTokens: number
  readonly answerTokens: number
  /** Tells what it really used; until then the whole allowance counts as used. Only the first time counts. */
  settle(promptTokens: number, answerTokens: number): void
}

/** Budget of a research run, shared by concurrent calls. */
export interface ResearchBudget {
  /**
   * Sets aside what a call will use, or as much of it as is left for its phase.
   * @returns undefined when too little is left; in the phase `final` never
   */
  allow(phase: SpendingPhase, promptTokens: number, answerTokens: number): Allowance | undefined
  /** The resource that is used up for further research; undefined if none. */
  exhausted(): 'tokens' | 'cost' | undefined
  /** The resource that the last refused call lacked. */
  lacked(): 'tokens' | 'cost'
}

/** Bounds of a budget. */
export interface BudgetOptions {
  readonly tokens: number
  readonly cost: number
  /** Default: nothing costs anything. */
  readonly price?: TokenPrice | undefined
}

// Shares of the budget. What is left of one phase falls to the next.
const shares: Readonly<Record<SpendingPhase, number>> = { research: 0.7, report: 0.85, final: 1 }
// With less than this a call can neither read nor say anything of use.
const leastTokens = 600

/** Makes the budget of one research. */
export function createResearchBudget({ tokens, cost, price = { input: 0, output: 0 } }: BudgetOptions): ResearchBudget {
  const used = { tokens: 0, cost: 0 }
  let lacked: 'tokens' | 'cost' = 'tokens'
  const costOf = (input: number, output: number): number => input * price.input + output * price.output

  /** Tokens of this mixture that are left for a phase. */
  const left = (phase: SpendingPhase, input: number, output: number): number => {
    const byTokens = tokens * shares[phase] - used.tokens
    const each = costOf(input, output) / Math.max(1, input + output)
    const byCost = each > 0 ? (cost * shares[phase] - used.cost) / each : Number.POSITIVE_INFINITY
    if (Math.min(byTokens, byCost) < leastTokens) lacked = byCost < byTokens ? 'cost' : 'tokens'
    return Math.floor(Math.min(byTokens, byCost))
  }
  const take = (input: number, output: number, sign: 1 | -1 = 1): void => {
    used.tokens += sign * (input + output)
    used.cost += sign * costOf(input, output)
  }
  return {
    allow: (phase, wantedPrompt, wantedAnswer) => {
      const room = left(phase, wantedPrompt, wantedAnswer)
      if (room < leastTokens && phase !== 'final') return undefined
      // An answer that is cut short is worth less than a prompt that is.
      const fits = wantedPrompt + wantedAnswer <= room
      const answer = fits ? wantedAnswer : Math.min(wantedAnswer, Math.max(leastTokens / 2, Math.floor(room * 0.4)))
      const prompt = fits ? wantedPrompt : Math.min(wantedPrompt, Math.max(leastTokens / 2, room - answer))
      take(prompt, answer)
      let isSettled = false
      return {
        promptTokens: prompt,
        answerTokens: answer,
        settle: (input, output) => {
          if (isSettled) return
          isSettled = true
          take(prompt, answer, -1)
          take(input, output)
        },
      }
    },
    exhausted: () => {
      if (tokens * shares.research - used.tokens < leastTokens) return 'tokens'
      return left('research', 1, 1) < leastTokens ? 'cost' : undefined
    },
    lacked: () => lacked,
  }
}
