import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError, type PacketBody } from '@inlay/protocol'
import { withInstructions } from './dialogue.ts'
import type { ResearchSetting } from './agent-state.ts'
import { clarifyingInstructions, planningInstructions } from './prompts.ts'
import { planTool } from './tools.ts'

/** Lets the model ask for clarification; returns whether it did, which then is the answer. */
export async function askForClarification(
  { model, writer, now, signal }: ResearchSetting,
  conversation: LanguageModelV4Prompt,
): Promise<boolean> {
  let turn = 0
  const deltas: string[] = []
  // Held back: a model may announce its start before it calls the tool, which is not a question.
  const packets = writer.openText(
    { turn: 0, tab: 0, sub: null },
    (text) => void deltas.push(text),
    () => void turn++,
  )
  try {
    const played = await model.play({
      phase: 'clarify',
      prompt: withInstructions(clarifyingInstructions(now()), conversation),
      tools: [planTool],
      choice: 'auto',
      listener: packets.listener,
      signal,
    })
    if (!played || played.calls.length > 0) return false
  } finally {
    packets.end()
  }
  const answer = writer.openAnswer(turn, null, () => undefined, '')
  for (const delta of deltas) answer.listener.onText(delta)
  answer.end()
  writer.setTurn(0)
  return true
}

/** @throws BUDGET_EXCEEDED when the budget does not allow a plan */
export async function makePlan(
  { model, writer, now, signal }: ResearchSetting,
  conversation: LanguageModelV4Prompt,
): Promise<{ plan: string; firstTurn: number }> {
  let turn = 0
  let plan = ''
  const emit = (packet: PacketBody): void => writer.emit({ turn, tab: 0, sub: null }, packet)
  const packets = writer.openText(
    { turn: 0, tab: 0, sub: null },
    (text) => {
      if (plan === '' && text.trim() === '') return
      if (plan === '') emit({ type: 'deep_research_plan_start' })
      plan += text
      emit({ type: 'deep_research_plan_delta', content: text })
    },
    () => writer.setTurn(++turn),
  )
  const endPlan = (): void => (plan === '' ? undefined : emit({ type: 'section_end' }))
  const forget = writer.onClose(endPlan)
  try {
    const played = await model.play({
      phase: 'plan',
      prompt: withInstructions(planningInstructions(now()), conversation),
      listener: packets.listener,
      signal,
    })
    if (!played)
      throw new InlayError('BUDGET_EXCEEDED', { message: 'The budget of this research is too small for a plan.' })
  } finally {
    packets.end()
  }
  forget()
  endPlan()
  return { plan: plan.trim(), firstTurn: turn + 1 }
}
