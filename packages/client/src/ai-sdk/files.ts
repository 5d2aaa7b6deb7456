import type { Client } from '../client.ts'
import type { FileReader } from './chunks.ts'

export function fileReader(client: Client, files: 'link' | 'inline', baseUrl: string): FileReader {
  return async (fileId) => {
    // A file that was deleted meanwhile is omitted from the message.
    const content = await client.files.content(fileId).catch(() => undefined)
    if (content === undefined) return undefined
    const link = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/chat/file/${encodeURIComponent(fileId)}`
    const mediaType = content.type.split(';')[0] || 'application/octet-stream'
    return { name: content.name, mediaType, url: files === 'link' ? link : await dataUrl(content, mediaType) }
  }
}

async function dataUrl(content: Blob, mediaType: string): Promise<string> {
  const bytes = new Uint8Array(await content.arrayBuffer())
  let binary = ''
  // In pieces, since the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return `data:${mediaType};base64,${btoa(binary)}`
}
