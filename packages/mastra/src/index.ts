export { mastraAgent, type LazyMastraAgent, type MastraAgent, type MastraAgentOptions } from './mastra-agent.ts'
export { mastraTools, type MastraTool } from './mastra-tools.ts'
