export { mastraAgent, type MastraAgent, type MastraAgentOptions } from './mastra-agent.ts'
export { mastraTools, type MastraTool } from './mastra-tools.ts'
