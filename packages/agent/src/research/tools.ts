import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { researchAgentName } from '../prompt/history.ts'

export const researchToolNames = {
  plan: 'generate_plan',
  agent: researchAgentName as typeof researchAgentName,
  report: 'generate_report',
  think: 'think_tool',
} as const

function declare(name: string, description: string, text?: readonly [string, string]): LanguageModelV4FunctionTool {
  const [argument, meaning] = text ?? []
  const properties = argument === undefined ? {} : { [argument]: { type: 'string' as const, description: meaning } }
  return {
    type: 'function',
    name,
    description,
    inputSchema: {
      type: 'object',
      properties,
      ...(argument === undefined ? {} : { required: [argument] }),
      additionalProperties: false,
    },
  }
}

export const planTool: LanguageModelV4FunctionTool = declare(
  researchToolNames.plan,
  'Begin the research: call this when the request is clear enough to be researched.',
)

export const agentTool: LanguageModelV4FunctionTool = declare(
  researchToolNames.agent,
  'Gives one task to a research agent, which searches on its own and reports back. Calls made together run side by side.',
  [
    'task',
    'The whole task in one to three sentences. The agent reads nothing else, so name everything it has to know.',
  ],
)

export const reportTool: LanguageModelV4FunctionTool = declare(
  researchToolNames.report,
  'Ends the search: call this when what was found suffices, or when more searching would find nothing new.',
)

/** For models that do not reason by themselves. */
export const thinkTool: LanguageModelV4FunctionTool = declare(
  researchToolNames.think,
  'Writes down a thought: what is known by now, what is missing, what to do next. It looks nothing up.',
  ['reasoning', 'The thought, in a few sentences.'],
)

export const streamedThought: ReadonlyMap<string, readonly string[]> = new Map([
  [researchToolNames.think, ['reasoning']],
])
