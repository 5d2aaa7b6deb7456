import { mcpListInputSchema, mcpSearchInputSchema } from '@inlay/protocol'
import { dataNote, defineMcpTool, toLinks, type McpTool } from './tool.ts'

const searchTool: McpTool = defineMcpTool({
  name: 'search',
  title: 'Search documents',
  description:
    "Searches the organisation's own documents. Returns passages, best first, with the number, title " +
    'and link of their document. Passages of one document share its number.',
  scope: 'search',
  input: mcpSearchInputSchema,
  async run({ query, sources, document_sets: sets, limit }, { parts, caller, signal }) {
    const filters = { source_type: sources, document_set: sets }
    const passages = await parts.knowledge.search({ text: query, filters, caller, limit, signal })
    const numbers = new Map<string, number>()
    const results = passages.map(({ document, content, headings }) => {
      const number = numbers.get(document.document_id) ?? numbers.size + 1
      numbers.set(document.document_id, number)
      return {
        number,
        title: document.semantic_identifier,
        ...(headings.length > 0 ? { section: headings.join(' > ') } : {}),
        content,
        link: document.link,
        source: document.source_type,
        updated_at: document.updated_at,
        document_id: document.document_id,
      }
    })
    return { value: { results, note: dataNote }, links: toLinks(results) }
  },
})

const listTool: McpTool = defineMcpTool({
  name: 'list_documents',
  title: 'List documents',
  description: 'Lists the documents by id, with title and link; `next` is the cursor of the next page.',
  scope: 'search',
  input: mcpListInputSchema,
  async run({ source, limit, after }, { parts, caller }) {
    const query = { limit, phase: 'indexed' as const, ...(source && { source }), ...(after && { after }) }
    const { documents, next } = await parts.knowledge.list(query, { caller })
    const listed = documents.map((document) => ({
      document_id: document.documentId,
      title: document.semanticIdentifier,
      link: document.link === '' ? null : document.link,
      source: document.source,
    }))
    return { value: { documents: listed, next }, links: [] }
  },
})

export const documentTools: readonly McpTool[] = [searchTool, listTool]
