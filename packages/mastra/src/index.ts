export { mastraTools, type MastraTool } from './mastra-tools.ts'
