import { estimateTokens, type EndedTurn } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import type { UsageLimits } from '@inlay/server'

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

/** The same knowledge, within the limit of documents that each caller may ingest in a day. */
export function ingestionWithinLimits(knowledge: Knowledge, limits: UsageLimits): Knowledge {
  return {
    ...knowledge,
    accept: async (request, options) => {
      if (options?.caller) await limits.take(options.caller, 'documentsPerDay')
      return knowledge.accept(request, options)
    },
    ingestFile: async (file, options) => {
      if (options?.caller) await limits.take(options.caller, 'documentsPerDay')
      return knowledge.ingestFile(file, options)
    },
  }
}

/** Counts the tokens of an answer; where the model tells none they are estimated from what was said. */
export function countTokens({ caller, usage, userMessage, answer }: EndedTurn, limits: UsageLimits): void {
  const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0)
  limits.add(caller, 'tokensPerDay', tokens > 0 ? tokens : estimateTokens(userMessage + answer))
}

async function* eachAfter<Item>(items: AsyncIterable<Item>, before: () => Promise<void>): AsyncGenerator<Item> {
  for await (const item of items) {
    await before()
    yield item
  }
}
