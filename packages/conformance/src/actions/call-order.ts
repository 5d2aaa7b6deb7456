import { packetSchema, type PacketBody } from '@inlay/protocol'
import { is } from 'valibot'

/** Order of the packets of a call by kind; `?` for optional packets, `*` and `+` for several. */
const orders: Readonly<Record<string, { readonly works: string; readonly fails: string }>> = {
  SearchTool: {
    works: 'search_tool_start search_tool_filter_delta? search_tool_queries_delta search_tool_documents_delta?',
    fails: 'search_tool_start search_tool_filter_delta? search_tool_queries_delta?',
  },
  WebSearchTool: {
    works: 'search_tool_start search_tool_queries_delta search_tool_documents_delta?',
    fails: 'search_tool_start search_tool_queries_delta?',
  },
  OpenURLTool: {
    works: 'open_url_start open_url_urls open_url_documents?',
    fails: 'open_url_start open_url_urls?',
  },
  ImageGenerationTool: {
    works: 'image_generation_start image_generation_heartbeat+ image_generation_final',
    fails: 'image_generation_start image_generation_heartbeat* error?',
  },
  PythonTool: {
    works: 'python_tool_start python_tool_delta*',
    fails: 'python_tool_start? python_tool_delta*',
  },
  FileReaderTool: { works: 'file_reader_start file_reader_result?', fails: 'file_reader_start' },
  MemoryTool: { works: 'memory_tool_start memory_tool_delta', fails: 'memory_tool_start' },
  custom: {
    works: 'custom_tool_start custom_tool_args? custom_tool_delta+',
    fails: 'custom_tool_start custom_tool_args? custom_tool_delta*',
  },
}

/**
 * Whether a call's packets are in the order of its kind, with one `section_end`, at the end.
 * @param builtIn name of the built-in kind; null for an action of the host
 */
export function hasCallOrder(
  packets: readonly PacketBody[],
  builtIn: string | null,
  outcome: 'works' | 'fails',
): boolean {
  const order = (orders[builtIn ?? 'custom'] ?? orders['custom'])?.[outcome] ?? ''
  const pattern = order.replaceAll(/(\w+)([?*+]?) ?/g, (_, type: string, times: string) => `(?:${type} )${times}`)
  return new RegExp(`^${pattern}section_end $`).test(packets.map(({ type }) => `${type} `).join(''))
}

export function isPacket(obj: PacketBody): boolean {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  return is(packetSchema, { placement, obj })
}
