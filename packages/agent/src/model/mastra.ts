import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { MastraModelConfig } from '@mastra/core/llm'
import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'

/** What a step may use: everything, nothing, or some actions of which it has to use one. */
export type StepChoice = 'any' | 'none' | { readonly forced: readonly string[] }

/** What a Mastra agent is given for one answer. */
export interface MastraRunOptions {
  readonly model: LanguageModelV4
  readonly temperature?: number
  readonly actions: readonly Action[]
  /** Runs a call by its id and gives what the model reads; never rejects. */
  readonly runCall: (toolCallId: string) => Promise<string>
  /** Most steps, at least 1. */
  readonly steps: number
  /** What a step (from 0) may use. */
  readonly choiceOf: (step: number) => StepChoice
  readonly signal: AbortSignal
}

/**
 * Runs a Mastra agent over one message, to its end. The agent decides whether another step follows and runs the calls;
 * what is said travels beside it, see `tapModel`. Loads the engine at first use (about half a second).
 * @returns the first error the agent reported; undefined when there was none
 */
export async function runMastra(options: MastraRunOptions): Promise<unknown> {
  const [{ Agent }, { createTool }, { Mastra }] = await Promise.all([
    import('@mastra/core/agent'),
    import('@mastra/core/tools'),
    import('@mastra/core'),
  ])
  const tools = options.actions.map((action) =>
    createTool({
      id: action.name,
      description: action.description,
      inputSchema: anyInput(action),
      execute: async (_input, context) => options.runCall(context.agent?.toolCallId ?? ''),
    }),
  )
  const agent = new Agent({
    id: 'inlay',
    name: 'inlay',
    instructions: 'The whole conversation is put into the prompt by the tap.',
    // Same specification; the engine brings types of its own copy of the provider package.
    model: options.model as unknown as MastraModelConfig,
    tools: Object.fromEntries(tools.map((tool) => [tool.id, tool])),
  })
  // An agent of no Mastra instance prints the errors of models to the console.
  void new Mastra({ agents: { agent }, logger: false })
  const output = await agent.stream([{ role: 'user', content: 'See the prompt.' }], {
    // Both bounds: `stopWhen` alone has no limit, `maxSteps` alone repeats a step that ended for an unknown reason.
    maxSteps: options.steps,
    stopWhen: ({ steps }: { steps: { finishReason?: string }[] }) => steps.at(-1)?.finishReason !== 'tool-calls',
    prepareStep: ({ stepNumber }) => {
      const choice = options.choiceOf(stepNumber)
      if (choice === 'any') return {}
      if (choice === 'none') return { toolChoice: 'none' }
      return { toolChoice: toAgentChoice(choice.forced), activeTools: [...choice.forced] }
    },
    abortSignal: options.signal,
    modelSettings: {
      maxRetries: 0,
      ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    },
  })
  let problem: unknown
  for await (const chunk of output.fullStream) {
    if (chunk.type === 'error') problem ??= chunk.payload.error
  }
  return problem
}

/** The call of a model that the agent would make for a step, but for its prompt. */
export function toCall(
  { temperature }: Pick<ResolvedModel, 'temperature'>,
  actions: readonly Action[],
  choice: StepChoice,
): LanguageModelV4CallOptions {
  const forced = typeof choice === 'object' ? choice.forced : undefined
  const offered = choice === 'none' ? [] : actions.filter(({ name }) => forced?.includes(name) ?? true)
  const tools = offered.map(({ name, description, input }): LanguageModelV4FunctionTool => ({
    type: 'function',
    name,
    description,
    inputSchema: input['~standard'].jsonSchema.input({ target: 'draft-07' }),
  }))
  return {
    prompt: [],
    ...(temperature === undefined ? {} : { temperature }),
    ...(tools.length === 0
      ? {}
      : { tools, toolChoice: forced === undefined ? { type: 'auto' } : toModelChoice(forced) }),
  }
}

type NamedTool = { readonly type: 'tool'; readonly toolName: string }

/** One action is named; of several, any is required. */
function toModelChoice(forced: readonly string[]): NamedTool | { readonly type: 'required' } {
  const choice = toAgentChoice(forced)
  return choice === 'required' ? { type: choice } : choice
}

function toAgentChoice([only = '', ...others]: readonly string[]): NamedTool | 'required' {
  return others.length === 0 ? { type: 'tool', toolName: only } : 'required'
}

/** The schema as the model is shown it; arguments are checked when the call runs, so that every call ends in one place. */
function anyInput({ input }: Action) {
  const show = (): Record<string, unknown> => input['~standard'].jsonSchema.input({ target: 'draft-07' })
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'inlay',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: show, output: show },
    },
  }
}
