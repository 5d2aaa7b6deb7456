import { mastraAgent } from '@inlay/mastra'

/**
 * An agent built with Mastra that users can select in the page. It works offline, with the built-in model, which quotes
 * documents. Mastra is loaded with its first message.
 */
export const mastraGuide: ReturnType<typeof mastraAgent> = mastraAgent(
  async () => {
    process.env['MASTRA_TELEMETRY_DISABLED'] ??= '1'
    const [{ Agent }, { Mastra }, { extractiveModel }] = await Promise.all([
      import('@mastra/core/agent'),
      import('@mastra/core'),
      import('@inlay/extractive'),
    ])
    const guide = new Agent({
      id: 'guide',
      name: 'Mastra guide',
      instructions: 'Answer from the documents that internal_search finds.',
      // Same specification, but Mastra uses the types of another copy of the provider package.
      model: extractiveModel() as never,
    })
    // An agent without a Mastra instance prints errors of models to the console.
    void new Mastra({ agents: { guide }, logger: false })
    return guide
  },
  { name: 'Mastra guide', description: 'An agent built with Mastra that uses the search of Inlay.' },
)
