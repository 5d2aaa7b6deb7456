/** OpenAPI document of a kennel: references, path-item and header parameters, lists, a body. */
export function kennelDocument(serverUrl = 'https://kennel.example/v1'): Record<string, unknown> {
  return {
    openapi: '3.0.3',
    info: { title: 'Kennel', description: 'Dogs that board here.', version: '1' },
    servers: [{ url: serverUrl }],
    paths: {
      '/dogs': {
        get: {
          operationId: 'list dogs',
          summary: 'Lists dogs.',
          parameters: [
            { name: 'state', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
            { name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 50 } },
            { name: 'X-Branch', in: 'header', schema: { type: 'string' } },
            { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          ],
        },
        post: {
          operationId: 'boardDog',
          description: 'Takes a dog in.',
          requestBody: { $ref: '#/components/requestBodies/Dog' },
        },
      },
      '/dogs/{dogId}': {
        parameters: [{ $ref: '#/components/parameters/DogId' }],
        get: { operationId: 'getDog', summary: 'One dog.' },
        delete: { operationId: 'releaseDog', summary: 'Lets a dog go.' },
      },
    },
    components: {
      parameters: {
        DogId: { name: 'dogId', in: 'path', required: true, description: 'Its number', schema: { type: 'string' } },
      },
      requestBodies: {
        Dog: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Dog' } } } },
      },
      schemas: {
        Dog: {
          type: 'object',
          required: ['name', 'id'],
          properties: {
            id: { type: 'integer', readOnly: true },
            name: { type: 'string' },
            nick: { type: 'string', nullable: true },
            mother: { $ref: '#/components/schemas/Dog' },
          },
        },
      },
    },
  }
}
