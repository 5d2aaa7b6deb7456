import type { ConversationDatabase } from '../tables/database.ts'

/** Answers of one model to one person. */
export interface ModelUsage {
  readonly ownerId: string
  /** Configured name of the provider; null for answers that no model began. */
  readonly provider: string | null
  readonly model: string | null
  readonly answers: number
  /** Answers among them that failed. */
  readonly failed: number
  /**
   * Tokens of prompts and answers, as the providers counted them; those of a step that was stopped are estimated.
   * Answers without a count add nothing.
   */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Answers whose tokens were counted. */
  readonly counted: number
  /** Time of all answers, in milliseconds. */
  readonly durationMs: number
}

/** Sums up the answers begun since a time, those of hidden sessions too; most answers first. */
export async function readUsage(db: ConversationDatabase, since: number): Promise<ModelUsage[]> {
  const rows = await db
    .selectFrom('inlay_chat_messages as answer')
    .innerJoin('inlay_chat_sessions as session', 'session.id', 'answer.session_id')
    .select((of) => [
      'session.owner_id as owner',
      'answer.model_provider as provider',
      'answer.model_name as model',
      of.fn.countAll().as('answers'),
      of.fn.sum(of.case().when('answer.error_code', 'is not', null).then(1).else(0).end()).as('failed'),
      of.fn.sum('answer.input_tokens').as('input'),
      of.fn.sum('answer.output_tokens').as('output'),
      of.fn.count('answer.output_tokens').as('counted'),
      of.fn.sum('answer.duration_ms').as('duration'),
    ])
    .where('answer.role', '=', 'assistant')
    .where('answer.created_at', '>=', since)
    .groupBy(['session.owner_id', 'answer.model_provider', 'answer.model_name'])
    .execute()
  return rows
    .map(({ owner, provider, model, answers, failed, input, output, counted, duration }) => ({
      ownerId: owner,
      provider,
      model,
      answers: Number(answers),
      failed: Number(failed ?? 0),
      inputTokens: Number(input ?? 0),
      outputTokens: Number(output ?? 0),
      counted: Number(counted),
      durationMs: Number(duration ?? 0),
    }))
    .toSorted((a, b) => b.answers - a.answers)
}
