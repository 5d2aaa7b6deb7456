import type { TokenPrice } from './limits.ts'

/** Purpose of a call. Later phases may use more of the budget, so that a report can always be written. */
export type SpendingPhase = 'research' | 'report' | 'final'

export interface Allowance {
  readonly promptTokens: number
  readonly answerTokens: number
  /** Records the actual use; until then the whole allowance counts as used. Later calls are ignored. */
  settle(promptTokens: number, answerTokens: number): void
}

/** Budget of a research run, shared by concurrent calls. */
export interface ResearchBudget {
  /** Reserves at most what is left for the phase; undefined when that is too little, but never in the phase `final`. */
  allow(phase: SpendingPhase, promptTokens: number, answerTokens: number): Allowance | undefined
  /** The exhausted resource; undefined while research may continue. */
  exhausted(): 'tokens' | 'cost' | undefined
  /** The resource that the last rejected call lacked. */
  lacked(): 'tokens' | 'cost'
}

export interface BudgetOptions {
  readonly tokens: number
  readonly cost: number
  /** Default: all tokens are free. */
  readonly price?: TokenPrice | undefined
}

// Shares of the budget. What one phase leaves is available to the next.
const shares: Readonly<Record<SpendingPhase, number>> = { research: 0.7, report: 0.85, final: 1 }
// With less than this, a call can neither read nor write anything useful.
const minTokens = 600

export function createResearchBudget({ tokens, cost, price = { input: 0, output: 0 } }: BudgetOptions): ResearchBudget {
  const used = { tokens: 0, cost: 0 }
  let lacked: 'tokens' | 'cost' = 'tokens'
  const costOf = (input: number, output: number): number => input * price.input + output * price.output

  /** Tokens of this mixture that are left for a phase. */
  const left = (phase: SpendingPhase, input: number, output: number): number => {
    const byTokens = tokens * shares[phase] - used.tokens
    const each = costOf(input, output) / Math.max(1, input + output)
    const byCost = each > 0 ? (cost * shares[phase] - used.cost) / each : Number.POSITIVE_INFINITY
    if (Math.min(byTokens, byCost) < minTokens) lacked = byCost < byTokens ? 'cost' : 'tokens'
    return Math.floor(Math.min(byTokens, byCost))
  }
  const take = (input: number, output: number, sign: 1 | -1 = 1): void => {
    used.tokens += sign * (input + output)
    used.cost += sign * costOf(input, output)
  }
  return {
    allow: (phase, wantedPrompt, wantedAnswer) => {
      const room = left(phase, wantedPrompt, wantedAnswer)
      if (room < minTokens && phase !== 'final') return undefined
      // Cutting an answer does more harm than cutting a prompt.
      const fits = wantedPrompt + wantedAnswer <= room
      const answer = fits ? wantedAnswer : Math.min(wantedAnswer, Math.max(minTokens / 2, Math.floor(room * 0.4)))
      const prompt = fits ? wantedPrompt : Math.min(wantedPrompt, Math.max(minTokens / 2, room - answer))
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
      if (tokens * shares.research - used.tokens < minTokens) return 'tokens'
      return left('research', 1, 1) < minTokens ? 'cost' : undefined
    },
    lacked: () => lacked,
  }
}
